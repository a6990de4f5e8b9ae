/* SPDX-License-Identifier: MIT */
/*
 * The statistics, updated as PyTorch updates them: each change counts for all
 * and for the pool kind of the block's pool (for_each_selected_stat_type).
 */
#ifndef CACHING_COUNTER_H
#define CACHING_COUNTER_H

#include "allocator/caching/caching.h"

/* Of a level that is below 0 below its peak. */
void counter_new_peak(struct gp_level *level);

/* By less than nothing, too. */
static inline void counter_raise(struct gp_level *level, int64_t amount)
{
	level->below -= amount;
	if (__builtin_expect(level->below < 0, false))
		counter_new_peak(level);
}

static inline void counter_add(struct caching *c, enum gp_stat_id id,
			       struct tally *own, uint64_t amount)
{
	counter_raise(&c->tally[GP_STAT_ALL].levels[id], (int64_t)amount);
	counter_raise(&own->levels[id], (int64_t)amount);
	own->allocated[id] += (int64_t)amount;
}

static inline void counter_sub(struct caching *c, enum gp_stat_id id,
			       struct tally *own, uint64_t amount)
{
	c->tally[GP_STAT_ALL].levels[id].below += (int64_t)amount;
	own->levels[id].below += (int64_t)amount;
}

/* A net change: one increase or one decrease. */
static inline void counter_net(struct caching *c, enum gp_stat_id id,
			       struct tally *own, int64_t amount)
{
	counter_raise(&c->tally[GP_STAT_ALL].levels[id], amount);
	counter_raise(&own->levels[id], amount);
	own->allocated[id] += amount > 0 ? amount : 0;
}

/* The single ones: oversize_allocations and oversize_segments. */
void counter_increase(struct gp_stat *stat, int64_t amount);
void counter_decrease(struct gp_stat *stat, int64_t amount);

/* reserved_bytes, of all, of the pool kind and of a private pool. */
void counter_reserve(struct caching *c, const struct caching_pool *pool,
		     uint64_t bytes);
void counter_unreserve(struct caching *c, const struct caching_pool *pool,
		       uint64_t bytes);

/* Makes c->stats.by_pool what the tallies say. */
void counter_tell(struct caching *c);

/* resetPeakStats, resetAccumulatedStats */
void counter_reset_peak(struct caching *c);
void counter_reset_accumulated(struct caching *c);

#endif
