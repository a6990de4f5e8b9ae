/* SPDX-License-Identifier: MIT */
/* Counters by PyTorch's names. */
#include <assert.h>

#include "gpupool/allocator.h"

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
