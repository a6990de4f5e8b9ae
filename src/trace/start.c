/* SPDX-License-Identifier: MIT */
/*
 * The state at the beginning of a recorded window.
 *
 * Segments: those at the end, after undoing every change of the trace. Live
 * blocks: those at the end that no alloc of the trace explains, and those that
 * are freed before they are allocated. What does not follow from the trace is
 * chosen by the rules below, and counted.
 */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "trace/history.h"

#define MIB	   (UINT64_C(1) << 20)
#define SMALL_PAGE (2 * MIB)

/* ---- segments ---- */

size_t gp_history_segment_behind(const struct gp_build_state *s, uint64_t addr)
{
	return gp_sorted_above(GP_SORTED(s->segments, s->segment_count,
					 struct gp_segment, addr),
			       addr);
}

static bool touches(const struct gp_segment *a, const struct gp_segment *b)
{
	return a->addr + a->size == b->addr && a->is_expandable &&
	       b->is_expandable && a->stream == b->stream && a->pool == b->pool;
}

static void insert_segment(struct gp_build_state *s, size_t at,
			   const struct gp_segment *segment)
{
	GP_INSERT(s->segments, s->segment_count, s->segment_room, at);
	s->segments[at] = *segment;
}

bool gp_history_is_small(const struct history *h,
			 const struct gp_event *release)
{
	if (release->kind != GP_SEGMENT_FREE)
		return release->size % h->settings.large_segment_size != 0;
	return release->size == SMALL_PAGE;
}

/* Adds a released segment or range, which existed at the start. */
static void add_range(struct history *h, const struct gp_event *entry)
{
	struct gp_build_state *s = &h->device->start;
	size_t at = gp_history_segment_behind(s, entry->addr);
	struct gp_segment made = {
		.addr = entry->addr,
		.size = entry->size,
		.stream = entry->stream,
		.pool = entry->pool,
		.is_small = gp_history_is_small(h, entry),
		.is_expandable = entry->kind == GP_SEGMENT_UNMAP,
		.site = entry->site,
	};

	if (at &&
	    s->segments[at - 1].addr + s->segments[at - 1].size > made.addr)
		return; /* contradicts what is there */
	if (at < s->segment_count &&
	    made.addr + made.size > s->segments[at].addr)
		return;
	if (at && touches(&s->segments[at - 1], &made)) {
		s->segments[--at].size += made.size;
	} else {
		if (at < s->segment_count && touches(&made, &s->segments[at]))
			made.is_small = s->segments[at].is_small;
		insert_segment(s, at, &made);
	}
	if (at + 1 < s->segment_count &&
	    touches(&s->segments[at], &s->segments[at + 1])) {
		s->segments[at].size += s->segments[at + 1].size;
		GP_REMOVE(s->segments, s->segment_count, at + 1);
	}
}

/* Removes a segment or range that the trace obtained; a range may be split. */
static void cut_range(struct gp_build_state *s, const struct gp_event *entry)
{
	size_t at = gp_history_segment_behind(s, entry->addr);
	struct gp_segment *segment, rest;
	uint64_t stop = entry->addr + entry->size;

	if (!at--)
		return;
	segment = &s->segments[at];
	if (stop > segment->addr + segment->size)
		return; /* contradicts the end state */
	rest = *segment;
	rest.addr = stop;
	rest.size = segment->addr + segment->size - stop;
	segment->size = entry->addr - segment->addr;
	if (!segment->size)
		GP_REMOVE(s->segments, s->segment_count, at);
	else
		at++;
	if (rest.size)
		insert_segment(s, at, &rest);
}

static void copy_segments(struct gp_build_state *to,
			  const struct gp_build_state *from)
{
	for (size_t i = 0; i < from->segment_count; i++) {
		insert_segment(to, i, &from->segments[i]);
		to->segments[i].first_block = to->segments[i].blocks = 0;
	}
}

static uint64_t reservation_of(uint16_t stream, uint16_t pool, bool is_small)
{
	return (uint64_t)stream << 32 | (uint64_t)pool << 16 | is_small;
}

/*
 * Finds where reservations began. Pages are mapped at the lowest address with
 * enough room, and a reservation lasts while some of it is mapped. So if a page
 * is mapped below all others before the reservation was ever empty, its address
 * was a part of the reservation at the start.
 */
static void find_fronts(struct history *h)
{
	struct gp_build_state *s = &h->device->start;
	uint64_t *mapped = gp_mem_alloc(s->segment_count, sizeof(*mapped));
	struct gp_map lowest = { 0 }; /* reservation -> its first segment */

	for (uint32_t i = 0; i < s->segment_count; i++) {
		const struct gp_segment *g = &s->segments[i];
		uint64_t key = reservation_of(g->stream, g->pool, g->is_small);

		if (!g->is_expandable)
			continue;
		if (gp_map_get(&lowest, key) == GP_MAP_NONE)
			gp_map_put(&lowest, key, i);
		mapped[gp_map_get(&lowest, key)] += g->size;
	}
	for (size_t at = 0; at < h->raw_count; at++) {
		const struct gp_event *e = &h->raw[at];
		uint64_t key = reservation_of(e->stream, e->pool,
					      gp_history_is_small(h, e));
		uint32_t i = GP_MAP_NONE;
		struct gp_segment *g;

		if (e->kind == GP_SEGMENT_MAP || e->kind == GP_SEGMENT_UNMAP)
			i = gp_map_get(&lowest, key);
		if (i == GP_MAP_NONE)
			continue;
		g = &s->segments[i];
		if (e->kind == GP_SEGMENT_MAP) {
			mapped[i] += e->size;
			if (e->addr < g->addr - g->offset)
				g->offset = g->addr - e->addr;
		} else if (mapped[i] > e->size) {
			mapped[i] -= e->size;
		} else {
			gp_map_take(&lowest, key);
		}
	}
	free(mapped);
	gp_map_release(&lowest);
}

/* Updates the most that was reserved at any time; called from the end
 * backwards. */
static void note_reserved(struct history *h, uint64_t reserved)
{
	if (reserved > h->most_reserved)
		h->most_reserved = reserved;
}

void gp_history_start_segments(struct history *h)
{
	struct gp_build_state *s = &h->device->start;
	uint64_t reserved = 0;

	copy_segments(s, &h->device->end);
	for (size_t i = 0; i < s->segment_count; i++)
		reserved += s->segments[i].size;
	note_reserved(h, reserved);
	for (size_t i = h->raw_count; i-- > 0;) {
		const struct gp_event *entry = &h->raw[i];

		switch (entry->kind) {
		case GP_SEGMENT_ALLOC:
		case GP_SEGMENT_MAP:
			cut_range(s, entry);
			reserved -= entry->size;
			break;
		case GP_SEGMENT_FREE:
		case GP_SEGMENT_UNMAP:
			add_range(h, entry);
			reserved += entry->size;
			note_reserved(h, reserved);
			break;
		default: break;
		}
	}
	h->reserved = reserved;
	find_fronts(h);
	for (size_t i = 0; i < s->segment_count; i++)
		h->device->guesses.segment_order += !s->segments[i].is_small;
}

/* ---- blocks ---- */

uint64_t gp_history_most_slack(const struct gp_settings *settings,
			       uint64_t rounded)
{
	return rounded < settings->max_split_size
		       ? GP_SMALL_SIZE
		       : settings->max_non_split_rounding - 1;
}

/* Whether blocks of this segment can include a remainder. */
static bool may_have_slack(const struct gp_segment *segment)
{
	return !segment->is_small && !segment->is_expandable;
}

struct sizing {
	struct history *h;
	bool *is_open;	 /* by start block: its end is unknown */
	uint64_t *limit; /* by start block: where the next one begins */
	size_t open;
};

/* The rounded request, limited by the next block; a gap too small to be a free
 * block belongs to the block. */
static void size_block(struct sizing *z, size_t i,
		       const struct gp_segment *segment)
{
	struct history *h = z->h;
	struct start_block *b = &h->start[i];
	uint64_t room = z->limit[i] - b->addr;

	if (b->size) {
		b->size = b->size < room ? b->size : room;
		return;
	}
	b->size = gp_settings_round(&h->settings, b->requested);
	if (b->size >= room) {
		b->size = room;
	} else if (may_have_slack(segment)) {
		if (room - b->size <=
		    gp_history_most_slack(&h->settings, b->size)) {
			b->size = room;
			h->device->guesses.block_slack++;
		} else {
			z->is_open[i] = true;
			z->open++;
		}
	}
}

/* The last start block that begins before addr; SIZE_MAX: none. */
static size_t block_before(const struct history *h, uint64_t addr)
{
	size_t low = gp_sorted_from(
		GP_SORTED(h->start, h->start_count, struct start_block, addr),
		addr);

	return low ? low - 1 : SIZE_MAX;
}

/*
 * A block with unknown end is followed by free memory. The first block
 * allocated there while it is live begins at its end.
 */
static void find_ends(struct sizing *z)
{
	struct history *h = z->h;

	for (size_t at = 0; at < h->out_count && z->open; at++) {
		const struct gp_event *entry = &h->out[at];
		struct start_block *b;
		size_t i;

		if (entry->kind != GP_ALLOC || !entry->addr)
			continue;
		i = block_before(h, entry->addr);
		if (i == SIZE_MAX || !z->is_open[i])
			continue;
		b = &h->start[i];
		/* For an address inside the block the difference wraps around
		 * to a very large number, and an address past the block's limit
		 * is too far away as well. */
		if (entry->addr - (b->addr + b->size) >
		    gp_history_most_slack(&h->settings, b->size))
			continue;
		z->is_open[i] = false;
		z->open--;
		if (at > b->freed_at || entry->addr == b->addr + b->size)
			continue;
		b->size = entry->addr - b->addr;
		h->device->guesses.block_slack++;
	}
}

static void push_block(struct gp_build_state *s, struct gp_segment *segment,
		       const struct gp_block *block)
{
	GP_GROW(s->blocks, s->block_count + 1, s->block_room);
	if (!segment->blocks++)
		segment->first_block = (uint32_t)s->block_count;
	s->blocks[s->block_count++] = *block;
}

static void push_free(struct gp_build_state *s, struct gp_segment *segment,
		      uint64_t addr, uint64_t stop)
{
	struct gp_block block = { .addr = addr,
				  .size = stop - addr,
				  .id = GP_NO_ID,
				  .state = GP_INACTIVE,
				  .site = GP_NO_SITE };

	if (stop > addr)
		push_block(s, segment, &block);
}

/* Adds all blocks of one segment, from start block i on; returns the next i. A
 * request that is larger than the space up to the next block is cut. */
static size_t fill_segment(struct history *h, struct gp_segment *segment,
			   size_t i)
{
	struct gp_build_state *s = &h->device->start;
	uint64_t at = segment->addr, stop = segment->addr + segment->size;

	for (; i < h->start_count && h->start[i].addr < stop; i++) {
		struct start_block *b = &h->start[i];

		b->is_lost = b->addr < at || !b->size;
		if (b->is_lost) /* in no segment, or overlapping */
			continue;
		push_free(s, segment, at, b->addr);
		push_block(s, segment,
			   &(struct gp_block){ .addr = b->addr,
					       .size = b->size,
					       .requested = gp_smaller(
						       b->requested, b->size),
					       .id = b->id,
					       .state = b->state,
					       .site = b->site });
		at = b->addr + b->size;
	}
	push_free(s, segment, at, stop);
	return i;
}

/* Sets where the next block begins, or the segment ends. */
static void find_limits(struct sizing *z)
{
	const struct history *h = z->h;
	const struct gp_build_state *s = &h->device->start;

	for (size_t i = 0; i < h->start_count; i++) {
		uint64_t addr = h->start[i].addr, limit = addr;
		size_t k = gp_history_segment_behind(s, addr);

		if (k &&
		    addr - s->segments[k - 1].addr < s->segments[k - 1].size)
			limit = s->segments[k - 1].addr +
				s->segments[k - 1].size;
		if (i + 1 < h->start_count && h->start[i + 1].addr < limit)
			limit = h->start[i + 1].addr;
		z->limit[i] = limit;
	}
}

/* Blocks for which no segment of the start has room were not live then. */
static bool count_lost(struct history *h, size_t placed)
{
	size_t lost = 0;

	for (size_t i = 0; i < h->start_count; i++) {
		struct start_block *b = &h->start[i];

		b->is_lost |= i >= placed;
		lost += b->is_lost;
		if (b->is_lost && b->freed_at != SIZE_MAX)
			h->device->guesses.start_blocks--;
	}
	h->device->guesses.lost_entries += lost;
	return lost > 0;
}

bool gp_history_start_blocks(struct history *h)
{
	struct gp_build_state *s = &h->device->start;
	struct sizing z = {
		.h = h,
		.is_open = gp_mem_alloc(h->start_count, sizeof(bool)),
		.limit = gp_mem_alloc(h->start_count, sizeof(uint64_t)),
	};
	size_t next = 0;

	gp_sort(GP_SORTED(h->start, h->start_count, struct start_block, addr));
	find_limits(&z);
	for (size_t i = 0; i < h->start_count; i++) {
		size_t k = gp_history_segment_behind(s, h->start[i].addr);

		if (z.limit[i] > h->start[i].addr)
			size_block(&z, i, &s->segments[k - 1]);
		else
			h->start[i].size = 0;
	}
	find_ends(&z);
	for (size_t i = 0; i < s->segment_count; i++)
		next = fill_segment(h, &s->segments[i], next);
	free(z.is_open);
	free(z.limit);
	return count_lost(h, next);
}
