/* SPDX-License-Identifier: MIT */
/* The counters that are compared, by the names of torch.cuda.memory_stats. */
#include <stdio.h>

#include "replay/verify/verify.h"

#define BY_POOL	 (GP_STAT_COUNT * 3 * 4)
#define OVERSIZE (2 * 4)

static void tell_stat(size_t index, char *name, size_t size,
		      const struct gp_stats *a, const struct gp_stats *b,
		      int64_t *x, int64_t *y)
{
	size_t stat = index / 12, pool = index / 4 % 3, value = index % 4;

	snprintf(name, size, "%s.%s.%s", gp_stat_names[stat],
		 gp_stat_kind_names[pool], gp_stat_part_names[value]);
	*x = gp_stat_part(&a->by_pool[stat][pool], value);
	*y = gp_stat_part(&b->by_pool[stat][pool], value);
}

static void tell_oversize(size_t index, char *name, size_t size,
			  const struct gp_stats *a, const struct gp_stats *b,
			  int64_t *x, int64_t *y)
{
	bool is_segments = index >= 4;

	snprintf(name, size, "oversize_%s.%s",
		 is_segments ? "segments" : "allocations",
		 gp_stat_part_names[index % 4]);
	*x = gp_stat_part(is_segments ? &a->oversize_segments
				      : &a->oversize_allocations,
			  index % 4);
	*y = gp_stat_part(is_segments ? &b->oversize_segments
				      : &b->oversize_allocations,
			  index % 4);
}

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
#define NUMBER(name)                                                           \
	{                                                                      \
#name, offsetof(struct gp_stats, name)                         \
	}
	NUMBER(num_alloc_retries),  NUMBER(num_ooms),
	NUMBER(num_oom_rejections), NUMBER(num_sync_all_streams),
	NUMBER(num_device_alloc),   NUMBER(num_device_free),
	NUMBER(max_split_size),
#undef NUMBER
};

static int64_t number_in(const struct gp_stats *stats, size_t index)
{
	return *(const int64_t *)((const char *)stats + numbers[index].offset);
}

bool gp_verify_counter(size_t index, char *name, size_t size,
		       const struct gp_stats *a, const struct gp_stats *b,
		       int64_t *value_a, int64_t *value_b)
{
	if (index < BY_POOL) {
		tell_stat(index, name, size, a, b, value_a, value_b);
		return true;
	}
	index -= BY_POOL;
	if (index < OVERSIZE) {
		tell_oversize(index, name, size, a, b, value_a, value_b);
		return true;
	}
	index -= OVERSIZE;
	if (index >= sizeof(numbers) / sizeof(*numbers))
		return false;
	snprintf(name, size, "%s", numbers[index].name);
	*value_a = number_in(a, index);
	*value_b = number_in(b, index);
	return true;
}
