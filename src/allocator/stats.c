/* SPDX-License-Identifier: MIT */
/* The statistics of engines: their names, and the counters of those that do not
 * distinguish pools, which keep only "all". */
#include "allocator/engines.h"

#include <assert.h>

/* ---- counters by PyTorch's names ---- */

const char *const gp_stat_names[GP_STAT_COUNT] = {
	[GP_STAT_ALLOCATION] = "allocation",
	[GP_STAT_SEGMENT] = "segment",
	[GP_STAT_ACTIVE] = "active",
	[GP_STAT_INACTIVE_SPLIT] = "inactive_split",
	[GP_STAT_ALLOCATED_BYTES] = "allocated_bytes",
	[GP_STAT_RESERVED_BYTES] = "reserved_bytes",
	[GP_STAT_ACTIVE_BYTES] = "active_bytes",
	[GP_STAT_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
	[GP_STAT_REQUESTED_BYTES] = "requested_bytes",
};

const char *const gp_stat_kind_names[3] = {
	[GP_STAT_ALL] = "all",
	[GP_STAT_SMALL] = "small_pool",
	[GP_STAT_LARGE] = "large_pool",
};

const char *const gp_stat_part_names[GP_STAT_PARTS] = { "current", "peak",
							"allocated", "freed" };

int64_t gp_stat_part(const struct gp_stat *stat, size_t part)
{
	const int64_t values[GP_STAT_PARTS] = { stat->current, stat->peak,
						stat->allocated, stat->freed };

	assert(part < GP_STAT_PARTS);
	return values[part];
}

/* ---- counters of "all" ---- */

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
