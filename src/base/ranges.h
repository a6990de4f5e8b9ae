/* SPDX-License-Identifier: MIT */
/*
 * Finds which of many ranges contain a number: a segment tree (Bentley 1977) of
 * which only nodes in use exist. It only compares the nine leading bits of
 * numbers, so it finds all ranges that contain a number, and may find some that
 * only come close. Adding a range and finding those of a number visit few
 * nodes.
 */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include <stdbool.h>

#include "base/map.h"

struct gp_range_link {
	uint32_t item;
	uint32_t next;	/* index, or GP_MAP_NONE */
	uint32_t count; /* of links from this one on */
};

/* Zeroed: empty. */
struct gp_ranges {
	struct gp_map first; /* by node, the index of a link */
	struct gp_range_link *links;
	size_t count, room;
};

/* Adds from <= number <= to, named by item. */
void gp_ranges_add(struct gp_ranges *ranges, uint64_t from, uint64_t to,
		   uint32_t item);
void gp_ranges_release(struct gp_ranges *ranges);

/* The number of ranges found for a number. */
size_t gp_ranges_count(const struct gp_ranges *ranges, uint64_t number);

/* The ranges found for a number, in no particular order:
 *
 *	for (walk = gp_ranges_at(&ranges, number); gp_ranges_next(&walk);)
 *		... walk.item ...
 */
struct gp_ranges_walk {
	const struct gp_ranges *ranges;
	uint64_t node;
	uint32_t link, item;
};
struct gp_ranges_walk gp_ranges_at(const struct gp_ranges *ranges,
				   uint64_t number);
bool gp_ranges_next(struct gp_ranges_walk *walk);

#endif
