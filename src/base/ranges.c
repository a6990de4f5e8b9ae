/* SPDX-License-Identifier: MIT */
/* A segment tree of ranges of numbers. */
#include "base/ranges.h"

#include <stdlib.h>

#include "base/mem.h"

/* Node 1 is the root, and those below node n are 2 n and 2 n + 1. */
#define LEAVES (UINT64_C(1) << 14)
#define BITS   9 /* leading bits that are compared */

/* The leaf of a number; larger numbers never have a lower leaf. */
static uint64_t leaf_of(uint64_t number)
{
	unsigned length = number ? 64 - (unsigned)__builtin_clzll(number) : 0;
	unsigned shift = length > BITS ? length - BITS : 0;

	return LEAVES + ((uint64_t)shift << (BITS - 1)) + (number >> shift);
}

static void add_to_node(struct gp_ranges *ranges, uint64_t node, uint32_t item)
{
	uint32_t next = gp_map_get(&ranges->first, node);

	GP_GROW(ranges->links, ranges->count + 1, ranges->room);
	ranges->links[ranges->count] = (struct gp_range_link){
		.item = item,
		.next = next,
		.count = 1 +
			 (next == GP_MAP_NONE ? 0 : ranges->links[next].count),
	};
	gp_map_put(&ranges->first, node, (uint32_t)ranges->count++);
}

void gp_ranges_add(struct gp_ranges *ranges, uint64_t from, uint64_t to,
		   uint32_t item)
{
	uint64_t left = leaf_of(from), right = leaf_of(to) + 1;

	/* The largest nodes that cover the range and nothing else. */
	for (; left < right; left /= 2, right /= 2) {
		if (left % 2)
			add_to_node(ranges, left++, item);
		if (right % 2)
			add_to_node(ranges, --right, item);
	}
}

void gp_ranges_release(struct gp_ranges *ranges)
{
	gp_map_release(&ranges->first);
	free(ranges->links);
	*ranges = (struct gp_ranges){ 0 };
}

size_t gp_ranges_count(const struct gp_ranges *ranges, uint64_t number)
{
	size_t count = 0;

	for (uint64_t node = leaf_of(number); node; node /= 2) {
		uint32_t link = gp_map_get(&ranges->first, node);

		if (link != GP_MAP_NONE)
			count += ranges->links[link].count;
	}
	return count;
}

struct gp_ranges_walk gp_ranges_at(const struct gp_ranges *ranges,
				   uint64_t number)
{
	uint64_t leaf = leaf_of(number);

	return (struct gp_ranges_walk){
		.ranges = ranges,
		.node = leaf,
		.link = gp_map_get(&ranges->first, leaf),
	};
}

bool gp_ranges_next(struct gp_ranges_walk *walk)
{
	const struct gp_ranges *ranges = walk->ranges;

	while (walk->link == GP_MAP_NONE && walk->node > 1) {
		walk->node /= 2;
		walk->link = gp_map_get(&ranges->first, walk->node);
	}
	if (walk->link == GP_MAP_NONE)
		return false;
	walk->item = ranges->links[walk->link].item;
	walk->link = ranges->links[walk->link].next;
	return true;
}
