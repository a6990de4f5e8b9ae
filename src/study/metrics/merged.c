/* SPDX-License-Identifier: MIT */
/* The same blocks and lifetimes, with streams and pools merged. */
#include "study/metrics/merged.h"

#include <stdlib.h>

#include "base/mem.h"

void occupancy_init(struct occupancy *occupancy,
		    const struct gp_device_trace *device)
{
	*occupancy = (struct occupancy){
		.device = device,
		.is_served = gp_mem_alloc(device->event_count,
					  sizeof(*occupancy->is_served)),
	};
}

void occupancy_release(struct occupancy *occupancy)
{
	free(occupancy->is_served);
	free(occupancy->ends);
	*occupancy = (struct occupancy){ 0 };
}

void occupancy_action(void *arg, const struct gp_action *action, uint64_t event)
{
	struct occupancy *o = arg;

	if (action->kind == GP_ALLOC)
		o->is_served[event] = true;
	if (action->kind != GP_FREE_COMPLETED || action->id == GP_NO_ID)
		return;
	o->ends = gp_mem_grow(o->ends, &o->end_room, o->end_count + 1,
			      sizeof(*o->ends));
	o->ends[o->end_count++] = (struct occupancy_end){ event, action->id };
}

/* Whether a request is kept in the merged trace. Frees are not: new ones are
 * added at the time at which the memory became free. */
static bool is_kept(const struct occupancy *o, size_t i, enum merge merge)
{
	switch (o->device->events[i].kind) {
	case GP_ALLOC: return o->is_served[i];
	case GP_EMPTY_CACHE:
		return merge != MERGE_ALL || !o->device->events[i].pool;
	case GP_SYNCHRONIZE:
		return merge == MERGE_NOTHING &&
		       o->device->events[i].flags & GP_STREAM_WAITS;
	case GP_SET_FRACTION:
	case GP_OTHER_MEMORY:
	case GP_SET_SETTINGS: return true;
	default:
		return merge != MERGE_ALL &&
		       gp_event_is_of_pool(o->device->events[i].kind);
	}
}

static struct gp_event make_free(uint32_t id)
{
	return (struct gp_event){
		.kind = GP_FREE,
		.id = id,
		.site = GP_NO_SITE,
		.flags = GP_AT_ONCE,
	};
}

static void merge_event(struct gp_event *event, enum merge merge)
{
	bool is_alloc = event->kind == GP_ALLOC;

	if (merge == MERGE_NOTHING)
		return;
	if (is_alloc || event->kind == GP_CAPTURE_BEGIN)
		event->stream = 0;
	if (is_alloc && merge == MERGE_ALL)
		event->pool = 0;
}

/* Pending frees of the start state are live blocks until their memory is
 * free. */
static void merge_start(struct gp_draft_device *device, enum merge merge)
{
	for (size_t i = 0; i < device->segment_count; i++) {
		if (merge != MERGE_NOTHING)
			device->segments[i].stream = 0;
		if (merge == MERGE_ALL)
			device->segments[i].pool = 0;
	}
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].state == GP_PENDING_FREE)
			device->blocks[i].state = GP_ACTIVE;
}

struct gp_trace *merged_make(const struct gp_trace *trace, uint32_t device,
			     const struct occupancy *occupancy,
			     enum merge merge)
{
	struct gp_draft draft;
	struct gp_draft_device *d;

	gp_draft_init(&draft, trace);
	d = &draft.devices[device];
	for (size_t i = 0; i < d->event_count; i++)
		if (is_kept(occupancy, i, merge))
			merge_event(&d->events[i], merge);
		else
			gp_draft_leave_out(&d->events[i]);
	for (size_t i = 0; i < occupancy->end_count; i++) {
		struct gp_event end = make_free(occupancy->ends[i].id);

		gp_draft_add(d, occupancy->ends[i].event, &end);
	}
	merge_start(d, merge);
	return gp_draft_finish(&draft);
}
