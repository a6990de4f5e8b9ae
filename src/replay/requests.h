/* SPDX-License-Identifier: MIT */
/* Requests of a trace, as an engine is asked for them, and the device that it
 * asks. */
#ifndef REPLAY_REQUESTS_H
#define REPLAY_REQUESTS_H

#include "gpupool/allocator.h"
#include "gpupool/device.h"
#include "gpupool/trace.h"

/* An alloc, and behind it the free of its block.  One branch: they come as they
 * like. */
static inline bool request_is_both(const struct gp_event *event)
{
	return (event->kind == GP_ALLOC) & (event[1].kind == GP_FREE) &
	       (event[1].id == event->id) & !(event->flags & GP_RESTORED);
}

/* Makes the device place memory as the recording's driver did, if it can.  To
 * be called before anything else is. */
void request_places(struct gp_device *device,
		    const struct gp_device_trace *trace);

/* The request that follows this GP_SEGMENT_ALLOC made a segment there, when it
 * was recorded. */
static inline void request_prefers(struct gp_device *device,
				   const struct gp_event *event)
{
	if (device->ops->prefer)
		device->ops->prefer(device, event->addr, event->size);
}

/* Any but GP_ALLOC, GP_FREE and GP_OTHER_MEMORY; outcomes ask for nothing. */
enum gp_answer request_other(struct gp_allocator *allocator,
			     const struct gp_trace *trace,
			     const struct gp_event *event);

#endif
