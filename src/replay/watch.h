/* SPDX-License-Identifier: MIT */
/*
 * What is noted while a replay runs: the timeline, the moment of the peak, the
 * first out-of-memory.
 */
#ifndef REPLAY_WATCH_H
#define REPLAY_WATCH_H

#include "gpupool/replay.h"

struct watch {
	struct gp_replay_result *result;
	struct gp_allocator *allocator;
	const struct gp_level *levels; /* the allocator's */
	uint64_t events, bin, bin_end; /* bin_end: first event of the next */
};

void watch_init(struct watch *watch, struct gp_allocator *allocator,
		uint64_t events, struct gp_replay_result *result);
struct gp_oom watch_oom(struct watch *watch, struct gp_device *device,
			const struct gp_event *event, uint64_t index);
/* Says so in the result when the run may end behind that event. */
void watch_cut(const struct watch *watch, const struct gp_replay_cut *cut,
	       uint64_t event);
void watch_end(struct watch *watch, uint64_t events);

void watch_next_bin(struct watch *watch, uint64_t event);
void watch_peak(struct watch *watch, uint64_t event);
void watch_fullest(struct watch *watch, uint64_t event);

static inline uint64_t watch_current(const struct watch *watch,
				     enum gp_stat_id id)
{
	return (uint64_t)gp_level_now(&watch->levels[id]);
}

static inline void watch_max(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

/* After each event: the next bin begins with what there is now. */
static inline void watch_event(struct watch *watch, uint64_t event)
{
	if (event >= watch->bin_end)
		watch_next_bin(watch, event);
}

/* After each event that may raise anything, which frees do not. */
static inline void watch_rise(struct watch *watch, uint64_t event)
{
	struct gp_timeline *line = &watch->result->timeline;
	uint64_t reserved = watch_current(watch, GP_STAT_RESERVED_BYTES);
	uint64_t allocated = watch_current(watch, GP_STAT_ALLOCATED_BYTES);

	watch_max(&line->reserved[watch->bin], reserved);
	watch_max(&line->allocated[watch->bin], allocated);
	watch_max(&line->active[watch->bin],
		  watch_current(watch, GP_STAT_ACTIVE_BYTES));
	if (reserved > watch->result->at_peak.reserved)
		watch_peak(watch, event);
	else if (allocated > watch->result->at_fullest.allocated &&
		 reserved == watch->result->at_peak.reserved)
		watch_fullest(watch, event);
}

#endif
