/* SPDX-License-Identifier: MIT */
/*
 * What is recorded during a replay: the timeline, the moment of the peak,
 * failed requests, and whether the memory of blocks was overwritten.
 */
#ifndef REPLAY_WATCH_H
#define REPLAY_WATCH_H

#include "base/larger.h"
#include "gpupool/replay.h"

struct watch {
	struct gp_replay_result *result;
	struct gp_allocator *allocator;
	const struct gp_level *levels; /* the allocator's */
	uint64_t events, bin,
		bin_end; /* bin_end: first event of the next bin */
};

void watch_init(struct watch *watch, struct gp_allocator *allocator,
		uint64_t events, struct gp_replay_result *result);
struct gp_oom watch_oom(struct watch *watch, struct gp_device *device,
			const struct gp_event *event, uint64_t index);
/* Sets the result's is_cut if the run may end after that event. */
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
	*most = gp_larger(*most, value);
}

/* To be called after each event. The next bin begins with the current
 * levels. */
static inline void watch_event(struct watch *watch, uint64_t event)
{
	if (event >= watch->bin_end)
		watch_next_bin(watch, event);
}

/* To be called after each event that can raise a level; frees cannot. */
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

/* The allocated bytes above which watch_rise() would record a new fullest
 * moment. */
static inline uint64_t watch_most(const struct watch *watch)
{
	const struct gp_replay_result *result = watch->result;

	return watch_current(watch, GP_STAT_RESERVED_BYTES) ==
			       result->at_peak.reserved
		       ? result->at_fullest.allocated
		       : UINT64_MAX;
}

/* To be called if that many bytes were allocated and have been freed again. */
static inline void watch_touch(struct watch *watch, uint64_t bytes)
{
	struct gp_timeline *line = &watch->result->timeline;

	watch_max(&line->allocated[watch->bin],
		  watch_current(watch, GP_STAT_ALLOCATED_BYTES) + bytes);
	watch_max(&line->active[watch->bin],
		  watch_current(watch, GP_STAT_ACTIVE_BYTES) + bytes);
}

/* ---- failed requests: what PyTorch's message says about them ---- */

/* The allocator's settings after the first `events` events. */
struct configured {
	struct gp_settings settings;
	double fraction;
	bool has_limit;
	uint64_t other; /* bytes in use by other processes */
	uint64_t events;
};
struct configured configured_at_start(const struct gp_settings *settings);

/* Whether more than its event is recorded for the next OOM. */
bool oom_is_described(const struct gp_replay_config *config,
		      const struct gp_replay_result *result);
/* allocator and device must be as the failed request left them. */
void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct configured *configured, struct gp_allocator *allocator,
		  struct gp_device *device);
/* oom NULL: only the event is recorded. */
void oom_add(struct gp_replay_result *result,
	     const struct gp_replay_config *config, uint64_t event,
	     const struct gp_oom *oom);

/*
 * ---- memory check ----
 *
 * Detects memory that is given to two blocks at once: a pattern is written into
 * each block, and read before the block is freed.
 */

struct memory_check {
	struct gp_device *device;
	struct checked_block *blocks; /* by id; NULL: no check */
	uint32_t block_ids;
	struct gp_memory_check *result;
};

/* Has no effect on devices without memory. */
void memory_check_init(struct memory_check *check, struct gp_device *device,
		       uint32_t block_ids, struct gp_memory_check *result);
void memory_check_write(struct memory_check *check, uint32_t id, uint64_t addr,
			uint64_t size, uint64_t event);
/* Ignores GP_NO_ID and blocks that were not written. */
void memory_check_read(struct memory_check *check, uint32_t id, uint64_t event);
/* Also reads the blocks that are still live. */
void memory_check_end(struct memory_check *check, uint64_t event);

#endif
