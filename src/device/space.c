/* SPDX-License-Identifier: MIT */
/*
 * Address space, allocated first fit upward.
 *
 * Free space below the end of all allocations consists of gaps, kept in a treap
 * (Seidel and Aragon 1996) by address. Each node has the length of the longest
 * gap in its subtree, so that the lowest gap that is long enough is found in
 * one descent: a request takes expected O(log n) time, whatever its size.
 */
#include "device/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/device.h"

/* A free range [start, end), in units. */
struct gap {
	uint64_t start, end;
	uint64_t longest; /* longest gap of the subtree, in units */
	uint32_t left, right;
	uint32_t priority;
};

/* Index 0 is not a gap; its `longest` stays 0. */
#define NONE 0

/* ---- the treap ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void measure(struct space *space, uint32_t node)
{
	struct gap *gap = &space->gaps[node];

	gap->longest = larger(gap->end - gap->start,
			      larger(space->gaps[gap->left].longest,
				     space->gaps[gap->right].longest));
}

static uint32_t make(struct space *space, uint64_t start, uint64_t end)
{
	uint32_t node = space->spare;

	if (node) {
		space->spare = space->gaps[node].left;
	} else {
		size_t need = space->gap_count ? space->gap_count + 1 : 2;

		GP_GROW(space->gaps, need, space->gap_room);
		if (!space->gap_count)
			space->gaps[space->gap_count++] = (struct gap){ 0 };
		node = (uint32_t)space->gap_count++;
	}
	space->gaps[node] = (struct gap){
		.start = start,
		.end = end,
		.longest = end - start,
		.priority = node * 2654435769u, /* a hash of the index */
	};
	return node;
}

static void drop(struct space *space, uint32_t node)
{
	space->gaps[node].left = space->spare;
	space->spare = node;
}

static void drop_all(struct space *space, uint32_t node)
{
	if (node == NONE)
		return;
	drop_all(space, space->gaps[node].left);
	drop_all(space, space->gaps[node].right);
	drop(space, node);
}

/* Joins two trees; all of `low` is before all of `high`. */
static uint32_t join(struct space *space, uint32_t low, uint32_t high)
{
	struct gap *gaps = space->gaps;

	if (low == NONE || high == NONE)
		return low == NONE ? high : low;
	if (gaps[low].priority >= gaps[high].priority) {
		gaps[low].right = join(space, gaps[low].right, high);
		measure(space, low);
		return low;
	}
	gaps[high].left = join(space, low, gaps[high].left);
	measure(space, high);
	return high;
}

/* Splits a tree into the gaps that start below `at`, and the others. */
static void split(struct space *space, uint32_t node, uint64_t at,
		  uint32_t *low, uint32_t *high)
{
	struct gap *gap;

	if (node == NONE) {
		*low = *high = NONE;
		return;
	}
	gap = &space->gaps[node];
	if (gap->start < at) {
		split(space, gap->right, at, &gap->right, high);
		*low = node;
	} else {
		split(space, gap->left, at, low, &gap->left);
		*high = node;
	}
	measure(space, node);
}

static uint32_t last_of(const struct space *space, uint32_t node)
{
	while (space->gaps && space->gaps[node].right)
		node = space->gaps[node].right;
	return node;
}

/* ---- ranges ---- */

/* A range, in units, across the ends of which gaps are not merged. */
struct bounds {
	uint64_t start, end;
};

static const struct bounds unbounded = { 0, UINT64_MAX };

/* Removes the gaps that overlap [*start, *end) or are adjacent to it within the
 * bounds, and extends *start and *end to include them. */
static void cut_out(struct space *space, const struct bounds *bounds,
		    uint64_t *start, uint64_t *end)
{
	uint32_t low, middle, high, last;

	split(space, space->root, *start, &low, &high);
	last = last_of(space, low);
	if (last && *start > bounds->start && space->gaps[last].end >= *start) {
		uint32_t only;

		*start = space->gaps[last].start;
		*end = larger(*end, space->gaps[last].end);
		split(space, low, *start, &low, &only);
		drop(space, only);
	}
	split(space, high, *end + (*end < bounds->end), &middle, &high);
	last = last_of(space, middle);
	if (last)
		*end = larger(*end, space->gaps[last].end);
	drop_all(space, middle);
	space->root = join(space, low, high);
}

static void add(struct space *space, uint64_t start, uint64_t end)
{
	uint32_t low, high, node;

	if (start >= end)
		return;
	node = make(space, start, end);
	split(space, space->root, start, &low, &high);
	space->root = join(space, join(space, low, node), high);
}

static void set_free(struct space *space, const struct bounds *bounds,
		     uint64_t start, uint64_t end)
{
	cut_out(space, bounds, &start, &end);
	if (end < space->end)
		add(space, start, end);
	else
		space->end = start;
}

static void set_taken(struct space *space, uint64_t start, uint64_t end)
{
	uint64_t first = start, last = end;

	cut_out(space, &unbounded, &first, &last);
	add(space, first, start);
	add(space, end, last);
	add(space, space->end, start);
	space->end = larger(space->end, end);
}

/* ---- requests ---- */

static uint64_t units_of(uint64_t size)
{
	return (size + GP_DEVICE_GRAIN - 1) / GP_DEVICE_GRAIN;
}

static bool is_at_border(const struct space *space, uint64_t addr)
{
	return (addr - space->base) % GP_DEVICE_GRAIN == 0;
}

/* The number of units that a range overlaps. In all recordings seen so far,
 * CUDA's ranges begin at a multiple of a unit; those of another device need
 * not. */
static uint64_t units_at(const struct space *space, uint64_t addr,
			 uint64_t size)
{
	return units_of((addr - space->base) % GP_DEVICE_GRAIN + size);
}

/* The lowest gap of at least that many units; one must exist. */
static uint32_t first_fit(const struct space *space, uint64_t units)
{
	const struct gap *gaps = space->gaps;
	uint32_t node = space->root;

	for (;;) {
		const struct gap *gap = &gaps[node];

		if (gaps[gap->left].longest >= units)
			node = gap->left;
		else if (gap->end - gap->start >= units)
			return node;
		else
			node = gap->right;
	}
}

/* Removes the first units of a gap in the subtree at node. Some must remain, so
 * the gap keeps its place in the tree. */
static void shorten(struct space *space, uint32_t node, const struct gap *gap,
		    uint64_t units)
{
	struct gap *here = &space->gaps[node];

	if (here == gap)
		here->start += units;
	else
		shorten(space,
			gap->start < here->start ? here->left : here->right,
			gap, units);
	measure(space, node);
}

uint64_t space_take(struct space *space, uint64_t size)
{
	uint64_t units = units_of(size), at = space->end, end;

	if (units && space->root && space->gaps[space->root].longest >= units) {
		const struct gap *gap = &space->gaps[first_fit(space, units)];

		at = end = gap->start;
		if (gap->end - gap->start > units)
			shorten(space, space->root, gap, units);
		else
			cut_out(space, &(struct bounds){ at, at + units }, &at,
				&end);
	} else {
		space->end += units;
	}
	return space->base + at * GP_DEVICE_GRAIN;
}

static void give(struct space *space, const struct bounds *bounds,
		 uint64_t addr, uint64_t size)
{
	uint64_t at = (addr - space->base) / GP_DEVICE_GRAIN;
	uint64_t units = units_of(size);

	if (addr < space->base || at >= space->end)
		return; /* adopted from outside this space */
	/* Units that the range only partly covers may hold another range. */
	if (!is_at_border(space, addr)) {
		uint64_t end = addr - space->base + size;

		at++;
		if (end / GP_DEVICE_GRAIN <= at || at >= space->end)
			return;
		units = end / GP_DEVICE_GRAIN - at;
	}
	if (units > space->end - at)
		units = space->end - at;
	set_free(space, bounds, at, at + units);
}

void space_give(struct space *space, uint64_t addr, uint64_t size)
{
	give(space, &unbounded, addr, size);
}

void space_give_within(struct space *space, uint64_t addr, uint64_t size,
		       uint64_t range, uint64_t length)
{
	uint64_t at = (range - space->base) / GP_DEVICE_GRAIN;

	give(space, &(struct bounds){ at, at + units_of(length) }, addr, size);
}

/* More than any device has: addresses beyond this do not belong to the
 * space. */
#define SPACE_UNITS (UINT64_C(1) << 22)

static bool is_within(const struct space *space, uint64_t addr, uint64_t units)
{
	return addr >= space->base &&
	       (addr - space->base) / GP_DEVICE_GRAIN < SPACE_UNITS &&
	       units <= SPACE_UNITS;
}

void space_adopt(struct space *space, uint64_t addr, uint64_t size)
{
	uint64_t at, units = units_at(space, addr, size);

	if (!is_within(space, addr, units))
		return;
	at = (addr - space->base) / GP_DEVICE_GRAIN;
	set_taken(space, at, at + units);
}

/* Below the end a range is free if one gap contains it. */
bool space_is_free(const struct space *space, uint64_t addr, uint64_t size)
{
	uint64_t at = (addr - space->base) / GP_DEVICE_GRAIN, end = 0;
	uint64_t units = units_at(space, addr, size);
	uint32_t node = space->root;

	if (!is_within(space, addr, units))
		return false;
	while (node != NONE && at < space->end) {
		const struct gap *gap = &space->gaps[node];

		if (gap->start <= at)
			end = gap->end;
		node = gap->start <= at ? gap->right : gap->left;
	}
	return at >= space->end || at + units <= end;
}

bool space_is_taken(const struct space *space, uint64_t addr, uint64_t size)
{
	return is_within(space, addr, units_at(space, addr, size)) &&
	       !space_is_free(space, addr, size);
}

struct space space_copy(const struct space *space)
{
	struct space copy = *space;
	size_t bytes = space->gap_count * sizeof(*space->gaps);

	copy.gaps = NULL;
	copy.gap_room = space->gap_count;
	if (bytes)
		copy.gaps = memcpy(gp_mem_take(bytes), space->gaps, bytes);
	return copy;
}

void space_release(struct space *space)
{
	free(space->gaps);
	*space = (struct space){ 0 };
}
