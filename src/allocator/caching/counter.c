/* SPDX-License-Identifier: MIT */
/* The statistics: what is not on the fast path of a request. */
#include "allocator/caching/caching.h"

void counter_new_peak(struct gp_level *level)
{
	level->peak -= level->below;
	level->below = 0;
}

void counter_increase(struct gp_stat *stat, int64_t amount)
{
	stat->current += amount;
	stat_grow(&stat->allocated, amount);
	if (stat->current > stat->peak)
		stat->peak = stat->current;
}

void counter_decrease(struct gp_stat *stat, int64_t amount)
{
	stat->current -= amount;
	stat_grow(&stat->freed, amount);
}

static enum gp_stat_kind kind_of(const struct caching_pool *pool)
{
	return pool->is_small ? GP_STAT_SMALL : GP_STAT_LARGE;
}

/* A private pool has statistics from its first segment on, and keeps them after
 * the pool is erased. */
static struct gp_stat *reserved_of(struct caching *c,
				   const struct caching_pool *pool)
{
	struct pool_reserved *reserved = &c->pools.reserved[pool_index(pool)];

	reserved->is_there = true;
	return reserved->by_kind;
}

void counter_reserve(struct caching *c, const struct caching_pool *pool,
		     uint64_t bytes)
{
	c->reserved += bytes;
	counter_add(c, GP_STAT_RESERVED_BYTES, pool->tally, bytes);
	if (pool_is_private(pool)) {
		struct gp_stat *stats = reserved_of(c, pool);

		counter_increase(&stats[GP_STAT_ALL], (int64_t)bytes);
		counter_increase(&stats[kind_of(pool)], (int64_t)bytes);
	}
}

void counter_unreserve(struct caching *c, const struct caching_pool *pool,
		       uint64_t bytes)
{
	c->reserved -= bytes;
	counter_sub(c, GP_STAT_RESERVED_BYTES, pool->tally, bytes);
	if (pool_is_private(pool)) {
		struct gp_stat *stats = reserved_of(c, pool);

		counter_decrease(&stats[GP_STAT_ALL], (int64_t)bytes);
		counter_decrease(&stats[kind_of(pool)], (int64_t)bytes);
	}
}

static struct gp_stat stat_of(const struct tally *tally, int id)
{
	struct gp_stat stat = {
		.current = gp_level_now(&tally->levels[id]),
		.peak = tally->levels[id].peak,
		.allocated = tally->allocated[id],
		.freed = tally->start[id],
	};

	stat_grow(&stat.freed, stat.allocated - stat.current);
	return stat;
}

void counter_fill(struct caching *c)
{
	for (int id = 0; id < GP_STAT_COUNT; id++) {
		struct gp_stat *stats = c->stats.by_pool[id];

		for (int kind = 0; kind < 3; kind++)
			stats[kind] = stat_of(&c->tally[kind], id);
		stats[GP_STAT_ALL].allocated = stats[GP_STAT_SMALL].allocated;
		stat_grow(&stats[GP_STAT_ALL].allocated,
			  stats[GP_STAT_LARGE].allocated);
		stats[GP_STAT_ALL].freed = stats[GP_STAT_SMALL].freed;
		stat_grow(&stats[GP_STAT_ALL].freed,
			  stats[GP_STAT_LARGE].freed);
	}
}

static void lower_peak(struct gp_level *level)
{
	level->peak -= level->below;
	level->below = 0;
}

void counter_reset_peak(struct caching *c)
{
	struct gp_stats *stats = &c->stats;

	for (int kind = 0; kind < 3; kind++)
		for (int id = 0; id < GP_STAT_COUNT; id++)
			lower_peak(&c->tally[kind].levels[id]);
	stats->oversize_allocations.peak = stats->oversize_allocations.current;
	stats->oversize_segments.peak = stats->oversize_segments.current;
	for (size_t i = 0; i < c->pools.pair_count; i++)
		for (int kind = 0; kind < 3; kind++) {
			struct gp_stat *s = &c->pools.reserved[i].by_kind[kind];

			s->peak = s->current;
		}
}

static void forget(struct gp_stat *stat)
{
	stat->allocated = stat->freed = 0;
}

void counter_reset_accumulated(struct caching *c)
{
	struct gp_stats *stats = &c->stats;

	/* GP_STAT_ALL is left out: it is the sum of these two. */
	for (int kind = GP_STAT_SMALL; kind <= GP_STAT_LARGE; kind++)
		for (int id = 0; id < GP_STAT_COUNT; id++) {
			struct tally *t = &c->tally[kind];

			t->allocated[id] = 0;
			t->start[id] = gp_level_now(&t->levels[id]);
		}
	forget(&stats->oversize_allocations);
	forget(&stats->oversize_segments);
	for (size_t i = 0; i < c->pools.pair_count; i++)
		for (int kind = 0; kind < 3; kind++)
			forget(&c->pools.reserved[i].by_kind[kind]);
	stats->num_alloc_retries = stats->num_ooms = 0;
	stats->num_oom_rejections = stats->num_sync_all_streams = 0;
	stats->num_device_alloc = stats->num_device_free = 0;
}
