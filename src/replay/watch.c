/* SPDX-License-Identifier: MIT */
/* Noting what a person will want to know. */
#include "replay/watch.h"

static uint64_t level_of(const struct gp_allocator *allocator,
			 enum gp_stat_id id)
{
	return (uint64_t)gp_level_now(&allocator->levels[id]);
}

/* The largest free block; with event: only of its stream and pool. */
static uint64_t search_free(struct gp_allocator *allocator,
			    const struct gp_event *event)
{
	struct gp_state state;
	uint64_t largest = 0;

	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *segment = &state.segments[i];

		if (event && (segment->stream != event->stream ||
			      segment->pool != event->pool))
			continue;
		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *b =
				&state.blocks[segment->first_block + k];

			if (b->state == GP_INACTIVE)
				watch_max(&largest, b->size);
		}
	}
	gp_state_release(&state);
	return largest;
}

struct gp_moment gp_moment_of(struct gp_allocator *allocator, uint64_t event)
{
	return (struct gp_moment){
		.event = event,
		.reserved = level_of(allocator, GP_STAT_RESERVED_BYTES),
		.allocated = level_of(allocator, GP_STAT_ALLOCATED_BYTES),
		.active = level_of(allocator, GP_STAT_ACTIVE_BYTES),
		.requested = level_of(allocator, GP_STAT_REQUESTED_BYTES),
		.inactive_split =
			level_of(allocator, GP_STAT_INACTIVE_SPLIT_BYTES),
		.largest_free =
			allocator->ops->largest_free
				? allocator->ops->largest_free(allocator)
				: search_free(allocator, NULL),
	};
}

void watch_init(struct watch *watch, struct gp_allocator *allocator,
		uint64_t events, struct gp_replay_result *result)
{
	*watch = (struct watch){
		.result = result,
		.allocator = allocator,
		.levels = allocator->levels,
		.events = events,
	};
	result->timeline.bins = events < GP_BINS ? (uint32_t)events : GP_BINS;
	watch_peak(watch, 0);
	if (events)
		watch_next_bin(watch, 0);
}

void watch_next_bin(struct watch *watch, uint64_t event)
{
	struct gp_timeline *line = &watch->result->timeline;
	uint64_t bins = line->bins, bin = event * bins / watch->events;

	watch->bin = bin;
	watch->bin_end = ((bin + 1) * watch->events + bins - 1) / bins;
	line->reserved[bin] = watch_current(watch, GP_STAT_RESERVED_BYTES);
	line->allocated[bin] = watch_current(watch, GP_STAT_ALLOCATED_BYTES);
	line->active[bin] = watch_current(watch, GP_STAT_ACTIVE_BYTES);
}

void watch_peak(struct watch *watch, uint64_t event)
{
	watch->result->at_peak = gp_moment_of(watch->allocator, event);
	watch->result->at_fullest = watch->result->at_peak;
}

void watch_fullest(struct watch *watch, uint64_t event)
{
	watch->result->at_fullest = gp_moment_of(watch->allocator, event);
}

struct gp_oom watch_oom(struct watch *watch, struct gp_device *device,
			const struct gp_event *event, uint64_t index)
{
	struct gp_moment now = gp_moment_of(watch->allocator, index);
	uint64_t total;
	struct gp_oom oom = {
		.is_there = true,
		.alloc = watch->result->allocs,
		.event = index,
		.size = event->size,
		.site = event->site,
		.free_bytes = now.reserved - now.active,
		.largest_free = search_free(watch->allocator, event),
		.reserved = now.reserved,
		.allocated = now.allocated,
	};
	device->ops->info(device, &oom.device_free, &total);
	/* Could it have been served, had all that is free been in one piece? */
	oom.cause = oom.free_bytes + oom.device_free >= event->size
			    ? GP_CAUSE_FRAGMENTATION
			    : GP_CAUSE_CAPACITY;
	return oom;
}

void watch_cut(const struct watch *watch, const struct gp_replay_cut *cut,
	       uint64_t event)
{
	struct gp_replay_result *result = watch->result;

	if (result->dropped <= cut->dropped &&
	    result->at_peak.reserved <= cut->reserved)
		return;
	result->is_cut = true;
	result->cut_events = event + 1;
}

void watch_end(struct watch *watch, uint64_t events)
{
	watch->result->at_end = gp_moment_of(watch->allocator, events);
}
