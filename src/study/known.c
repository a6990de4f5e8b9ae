/* SPDX-License-Identifier: MIT */
/* Sets of known capacities. */
#include "study/known.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sorted.h"

void known_release(struct known *known)
{
	free(known->ranges);
	*known = (struct known){ 0 };
}

/* The index of the first range that ends after a capacity. */
static size_t first_behind(const struct known *known, uint64_t at)
{
	return gp_sorted_above(
		GP_SORTED(known->ranges, known->count, struct known_range, to),
		at);
}

/* Inserts a range, or extends the previous one. */
static void insert(struct known *known, size_t index,
		   const struct known_range *range)
{
	struct known_range *before = index ? &known->ranges[index - 1] : NULL;

	if (before && before->to == range->from &&
	    before->is_fine == range->is_fine) {
		before->to = range->to;
		return;
	}
	GP_INSERT(known->ranges, known->count, known->room, index);
	known->ranges[index] = *range;
}

void known_add(struct known *known, uint64_t from, uint64_t to, bool is_fine)
{
	while (from < to) {
		size_t index = first_behind(known, from);
		const struct known_range *next =
			index < known->count ? &known->ranges[index] : NULL;
		struct known_range range = { from, to, is_fine };

		if (next && next->from <= from) {
			from = next->to;
			continue;
		}
		if (next && next->from < to)
			range.to = next->from;
		from = range.to;
		insert(known, index, &range);
	}
}

const struct known_range *known_find(const struct known *known, uint64_t at)
{
	size_t index = first_behind(known, at);

	return index < known->count && known->ranges[index].from <= at
		       ? &known->ranges[index]
		       : NULL;
}

static uint64_t width(const struct known_range *range)
{
	return range->to - range->from;
}

/* Inserts into a list in descending order; returns its new length. */
static size_t keep_wide(struct known_range *list, size_t count, size_t room,
			struct known_range gap)
{
	size_t at;

	if (count == room && width(&list[count - 1]) >= width(&gap))
		return count;
	count -= count == room;
	for (at = count; at && width(&list[at - 1]) < width(&gap); at--)
		list[at] = list[at - 1];
	list[at] = gap;
	return count + 1;
}

size_t known_gaps(const struct known *known, uint64_t from, uint64_t to,
		  struct known_range *gaps, size_t room)
{
	uint64_t at = from;
	size_t n = 0;

	for (size_t i = first_behind(known, from); at < to; i++) {
		bool is_last = i >= known->count || known->ranges[i].from >= to;
		uint64_t end = is_last ? to : known->ranges[i].from;

		if (end > at)
			n = keep_wide(gaps, n, room,
				      (struct known_range){ at, end, false });
		if (is_last)
			break;
		at = known->ranges[i].to;
	}
	return n;
}

uint64_t known_lowest_fine(const struct known *known, uint64_t to)
{
	for (size_t i = 0; i < known->count && known->ranges[i].from < to; i++)
		if (known->ranges[i].is_fine)
			return known->ranges[i].from;
	return UINT64_MAX;
}

uint64_t known_highest_bad(const struct known *known, uint64_t to,
			   uint64_t grain)
{
	for (size_t i = known->count; i-- > 0;) {
		const struct known_range *range = &known->ranges[i];

		if (range->from < to && !range->is_fine)
			return (range->to < to ? range->to : to) - grain;
	}
	return UINT64_MAX;
}
