/* The same blocks for as long, with streams and pools merged. */
#include "metrics/merged.h"

#include <stdlib.h>

#include "base/mem.h"

void occupancy_init(struct occupancy *occupancy,
		    const struct gp_device_trace *device)
{
	*occupancy = (struct occupancy){
		.device = device,
		.is_served = gp_mem_alloc(device->event_count + 1,
					  sizeof(*occupancy->is_served)),
	};
}

void occupancy_release(struct occupancy *occupancy)
{
	free(occupancy->is_served);
	free(occupancy->ends);
	*occupancy = (struct occupancy){ 0 };
}

void occupancy_hear(void *arg, const struct gp_action *action, uint64_t event)
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

/* Whether a request is made in the merged run too.  Frees are made anew, when
 * the block was free. */
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
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END:
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT: return merge != MERGE_ALL;
	default: return false;
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

static size_t make_events(struct gp_event *events, const struct occupancy *o,
			  enum merge merge)
{
	size_t count = 0, end = 0;

	for (size_t i = 0; i < o->device->event_count; i++) {
		struct gp_event *event;

		while (end < o->end_count && o->ends[end].event <= i)
			events[count++] = make_free(o->ends[end++].id);
		if (!is_kept(o, i, merge))
			continue;
		event = &events[count++];
		*event = o->device->events[i];
		if (merge != MERGE_NOTHING && (event->kind == GP_ALLOC ||
					       event->kind == GP_CAPTURE_BEGIN))
			event->stream = 0;
		if (event->kind == GP_ALLOC && merge == MERGE_ALL)
			event->pool = 0;
	}
	return count;
}

/* Of the start, the blocks that wait are live until they are free. */
static void make_start(struct merged *m, enum merge merge)
{
	struct gp_state *start = &m->device.start;

	m->segments =
		gp_mem_alloc(start->segment_count + 1, sizeof(*m->segments));
	m->blocks = gp_mem_alloc(start->block_count + 1, sizeof(*m->blocks));
	for (size_t i = 0; i < start->segment_count; i++) {
		m->segments[i] = start->segments[i];
		if (merge != MERGE_NOTHING)
			m->segments[i].stream = 0;
		if (merge == MERGE_ALL)
			m->segments[i].pool = 0;
	}
	for (size_t i = 0; i < start->block_count; i++) {
		m->blocks[i] = start->blocks[i];
		if (m->blocks[i].state == GP_PENDING_FREE)
			m->blocks[i].state = GP_ACTIVE;
	}
	start->segments = m->segments;
	start->blocks = m->blocks;
}

void merged_make(struct merged *merged, const struct gp_trace *trace,
		 const struct occupancy *occupancy, enum merge merge)
{
	const struct gp_device_trace *device = occupancy->device;

	*merged = (struct merged){
		.trace = *trace,
		.device = *device,
		.events = gp_mem_alloc(device->event_count +
					       occupancy->end_count + 1,
				       sizeof(*merged->events)),
	};
	merged->device.event_count =
		make_events(merged->events, occupancy, merge);
	merged->device.events = merged->events;
	make_start(merged, merge);
	merged->trace.devices = &merged->device;
	merged->trace.device_count = 1;
	merged->trace.memory = NULL;
}

void merged_release(struct merged *merged)
{
	free(merged->events);
	free(merged->segments);
	free(merged->blocks);
}
