/* SPDX-License-Identifier: MIT */
/* Passing the requests of a trace to an engine, and placing the memory of its
 * device. */
#ifndef REPLAY_REQUESTS_H
#define REPLAY_REQUESTS_H

#include "gpupool/allocator.h"
#include "gpupool/device.h"
#include "gpupool/trace.h"

/* Whether this event is an alloc and the next one frees its block. The
 * operators do not short-circuit: one branch is mispredicted less often than
 * four. */
static inline bool request_is_both(const struct gp_event *event)
{
	return (event->kind == GP_ALLOC) & (event[1].kind == GP_FREE) &
	       (event[1].id == event->id) & !(event->flags & GP_RESTORED);
}

/* Makes the device place memory as the recording's driver did, if it can. To be
 * called before the device is used. */
void request_places(struct gp_device *device, const struct gp_trace *trace,
		    const struct gp_device_trace *of);

/* Passes on where the next request's segment was when it was recorded; event:
 * its GP_SEGMENT_ALLOC. */
static inline void request_prefers(struct gp_device *device,
				   const struct gp_event *event)
{
	if (device->ops->prefer)
		device->ops->prefer(device, event->addr, event->size);
}

/* Passes on any event but GP_ALLOC, GP_FREE and GP_OTHER_MEMORY; outcomes have
 * no effect. */
enum gp_answer request_other(struct gp_allocator *allocator,
			     const struct gp_trace *trace,
			     const struct gp_event *event);

#endif
