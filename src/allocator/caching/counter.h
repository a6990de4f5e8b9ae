/*
 * The statistics, updated as PyTorch updates them: each change counts for all
 * and for the pool kind of the block's pool (for_each_selected_stat_type).
 */
#ifndef CACHING_COUNTER_H
#define CACHING_COUNTER_H

#include "allocator/caching/caching.h"

static inline void counter_increase(struct gp_stat *stat, int64_t amount)
{
	stat->current += amount;
	stat->allocated += amount;
	if (stat->current > stat->peak)
		stat->peak = stat->current;
}

static inline void counter_decrease(struct gp_stat *stat, int64_t amount)
{
	stat->current -= amount;
	stat->freed += amount;
}

static inline enum gp_stat_kind counter_kind(const struct block *b)
{
	return b->pool->is_small ? GP_STAT_SMALL : GP_STAT_LARGE;
}

static inline void counter_add(struct gp_stats *stats, enum gp_stat_id id,
			       enum gp_stat_kind kind, uint64_t amount)
{
	counter_increase(&stats->by_pool[id][GP_STAT_ALL], (int64_t)amount);
	counter_increase(&stats->by_pool[id][kind], (int64_t)amount);
}

static inline void counter_sub(struct gp_stats *stats, enum gp_stat_id id,
			       enum gp_stat_kind kind, uint64_t amount)
{
	counter_decrease(&stats->by_pool[id][GP_STAT_ALL], (int64_t)amount);
	counter_decrease(&stats->by_pool[id][kind], (int64_t)amount);
}

/* A net change: one increase or one decrease. */
static inline void counter_net(struct gp_stats *stats, enum gp_stat_id id,
			       enum gp_stat_kind kind, int64_t amount)
{
	if (amount > 0)
		counter_add(stats, id, kind, (uint64_t)amount);
	else if (amount < 0)
		counter_sub(stats, id, kind, (uint64_t)-amount);
}

#endif
