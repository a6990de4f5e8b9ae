/* The statistics: what is not done for every request. */
#include "allocator/caching/counter.h"

#include <string.h>

void counter_increase(struct gp_stat *stat, int64_t amount)
{
	stat->current += amount;
	stat->allocated += amount;
	if (stat->current > stat->peak)
		stat->peak = stat->current;
}

void counter_decrease(struct gp_stat *stat, int64_t amount)
{
	stat->current -= amount;
	stat->freed += amount;
}

void counter_tell(struct caching *c)
{
	const struct tally *small = &c->tally[GP_STAT_SMALL];
	const struct tally *large = &c->tally[GP_STAT_LARGE];

	for (int id = 0; id < GP_STAT_COUNT; id++) {
		for (int kind = 0; kind < 3; kind++) {
			const struct tally *t = &c->tally[kind];

			c->stats.by_pool[id][kind] = (struct gp_stat){
				.current = t->current[id],
				.peak = t->peak[id],
				.allocated = t->allocated[id],
				.freed = t->freed[id],
			};
		}
		c->stats.by_pool[id][GP_STAT_ALL].allocated =
			small->allocated[id] + large->allocated[id];
		c->stats.by_pool[id][GP_STAT_ALL].freed =
			small->freed[id] + large->freed[id];
	}
}

void counter_reset_peak(struct caching *c)
{
	for (int kind = 0; kind < 3; kind++)
		memcpy(c->tally[kind].peak, c->tally[kind].current,
		       sizeof(c->tally[kind].peak));
	c->stats.oversize_allocations.peak =
		c->stats.oversize_allocations.current;
	c->stats.oversize_segments.peak = c->stats.oversize_segments.current;
}

static void forget(struct gp_stat *stat)
{
	stat->allocated = stat->freed = 0;
}

void counter_reset_accumulated(struct caching *c)
{
	struct gp_stats *stats = &c->stats;

	for (int kind = 0; kind < 3; kind++) {
		memset(c->tally[kind].allocated, 0,
		       sizeof(c->tally[kind].allocated));
		memset(c->tally[kind].freed, 0, sizeof(c->tally[kind].freed));
	}
	forget(&stats->oversize_allocations);
	forget(&stats->oversize_segments);
	stats->num_alloc_retries = stats->num_ooms = 0;
	stats->num_oom_rejections = stats->num_sync_all_streams = 0;
	stats->num_device_alloc = stats->num_device_free = 0;
}
