/* SPDX-License-Identifier: MIT */
/* An allocator on a simulated device, which a test calls request by request. */
#ifndef CONFORM_ONE_H
#define CONFORM_ONE_H

#include "gpupool/allocator.h"
#include "gpupool/device.h"
#include "gpupool/knob.h"
#include "gpupool/trace.h"

struct one {
	struct gp_device *device;
	struct gp_allocator *allocator;
	struct gp_alike alike;
};

struct answer {
	enum gp_answer answer;
	uint64_t addr;
};

/* For the program of a device, and a block whose id is of->block_ids. start:
 * NULL: empty. */
struct one *one_make(const struct gp_trace *trace,
		     const struct gp_device_trace *of,
		     const struct gp_settings *settings,
		     const struct gp_state *start);
/* NULL: impossible in this state. */
struct one *one_copy(const struct one *one);
void one_drop(struct one *one);

struct answer one_give(const struct one *one, const struct gp_trace *trace,
		       const struct gp_event *event);

#endif
