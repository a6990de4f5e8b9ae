/* SPDX-License-Identifier: MIT */
/* What stands behind addresses. */
#include "device/cuda/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* How many begin at the address or below. */
static size_t count_to(const struct ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range *ranges_find(const struct ranges *ranges, uint64_t addr)
{
	size_t n = count_to(ranges, addr);
	struct range *range = n ? &ranges->items[n - 1] : NULL;

	return range && addr - range->addr < range->size ? range : NULL;
}

void ranges_add(struct ranges *ranges, const struct range *range)
{
	size_t at = count_to(ranges, range->addr);

	ranges->items = gp_mem_grow(ranges->items, &ranges->room,
				    ranges->count + 1, sizeof(*range));
	memmove(&ranges->items[at + 1], &ranges->items[at],
		(ranges->count - at) * sizeof(*range));
	ranges->items[at] = *range;
	ranges->count++;
}

void ranges_remove(struct ranges *ranges, const struct range *range)
{
	size_t at = (size_t)(range - ranges->items);

	free(range->pages);
	ranges->count--;
	memmove(&ranges->items[at], &ranges->items[at + 1],
		(ranges->count - at) * sizeof(*range));
}

void ranges_release(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->items[i].pages);
	free(ranges->items);
	*ranges = (struct ranges){ 0 };
}
