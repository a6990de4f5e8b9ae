/* SPDX-License-Identifier: MIT */
/* Requests of a trace, as an engine is asked for them, and the device that it
 * asks. */
#ifndef REPLAY_REQUESTS_H
#define REPLAY_REQUESTS_H

#include "gpupool/allocator.h"
#include "gpupool/device.h"
#include "gpupool/trace.h"

/* A simulated one that places memory as the recording's did. */
struct gp_device *request_device(const struct gp_device_trace *trace,
				 uint64_t capacity);

/* Any but GP_ALLOC, GP_FREE and GP_OTHER_MEMORY; outcomes ask for nothing. */
enum gp_answer request_other(struct gp_allocator *allocator,
			     const struct gp_trace *trace,
			     const struct gp_event *event);

#endif
