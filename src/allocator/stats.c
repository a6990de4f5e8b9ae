/* SPDX-License-Identifier: MIT */
/* The statistics of engines that do not distinguish pools: only "all" is
 * kept. */
#include "allocator/engines.h"

void gp_stat_change(struct gp_stat *stat, int64_t amount)
{
	stat->current += amount;
	if (amount > 0)
		stat_grow(&stat->allocated, amount);
	else
		stat_grow(&stat->freed, -amount);
	if (stat->current > stat->peak)
		stat->peak = stat->current;
}

void gp_stats_reset_peak(struct gp_stats *stats)
{
	for (int i = 0; i < GP_STAT_COUNT; i++) {
		struct gp_stat *stat = &stats->by_pool[i][GP_STAT_ALL];

		stat->peak = stat->current;
	}
}

void gp_stats_reset_accumulated(struct gp_stats *stats)
{
	for (int i = 0; i < GP_STAT_COUNT; i++) {
		struct gp_stat *stat = &stats->by_pool[i][GP_STAT_ALL];

		stat->allocated = stat->freed = 0;
	}
	stats->num_ooms = stats->num_alloc_retries = 0;
	stats->num_sync_all_streams = 0;
	stats->num_device_alloc = stats->num_device_free = 0;
}
