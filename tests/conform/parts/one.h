/* SPDX-License-Identifier: MIT */
/* An allocator on a simulated device, which a test gives requests one by one.
 */
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

/* For the device's program and a block of id of->block_ids. start: NULL: with
 * nothing. */
struct one *one_make(const struct gp_trace *trace,
		     const struct gp_device_trace *of,
		     const struct gp_settings *settings,
		     const struct gp_state *start);
/* NULL: not possible now. */
struct one *one_copy(const struct one *one);
void one_drop(struct one *one);

struct answer one_give(const struct one *one, const struct gp_trace *trace,
		       const struct gp_event *event);

#endif
