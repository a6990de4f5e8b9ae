/* SPDX-License-Identifier: MIT */
/* The state of a film at one moment. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/metrics/film.h"

/* Mapped memory: a segment, or a part of an expandable one. */
struct range {
	uint64_t addr, size;
	const struct gp_shot *shot;
};

/* A block that is live or pending free. */
struct held {
	const struct gp_shot *shot;
	bool is_pending;
};

struct view {
	struct range *ranges; /* sorted by address */
	size_t range_count, range_room;
	struct held *held; /* by id */
	size_t held_room;
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t segment_count, block_count, block_room;
};

/* ---- following the changes ---- */

/* The first range that ends after the address. */
static size_t range_above(const struct view *view, uint64_t addr)
{
	size_t low = 0, high = view->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *r = &view->ranges[middle];

		if (r->addr + r->size <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert_range(struct view *view, size_t at, struct range range)
{
	GP_GROW(view->ranges, view->range_count + 1, view->range_room);
	memmove(view->ranges + at + 1, view->ranges + at,
		(view->range_count - at) * sizeof(*view->ranges));
	view->ranges[at] = range;
	view->range_count++;
}

static void remove_range(struct view *view, size_t at)
{
	view->range_count--;
	memmove(view->ranges + at, view->ranges + at + 1,
		(view->range_count - at) * sizeof(*view->ranges));
}

/* Removes mapped memory; an expandable segment may keep other pages. */
static void unmap(struct view *view, uint64_t addr, uint64_t size)
{
	size_t at = range_above(view, addr);
	uint64_t end = addr + size;

	while (at < view->range_count && view->ranges[at].addr < end) {
		struct range old = view->ranges[at];
		uint64_t old_end = old.addr + old.size;

		remove_range(view, at);
		if (old_end > end)
			insert_range(
				view, at,
				(struct range){ end, old_end - end, old.shot });
		if (old.addr < addr)
			insert_range(view, at++,
				     (struct range){ old.addr, addr - old.addr,
						     old.shot });
		if (old_end > end)
			break;
	}
}

static struct held *held_of(struct view *view, uint32_t id)
{
	size_t before = view->held_room;

	if (id >= before) {
		GP_GROW(view->held, (size_t)id + 1, view->held_room);
		memset(view->held + before, 0,
		       (view->held_room - before) * sizeof(*view->held));
	}
	return &view->held[id];
}

static void follow(struct view *view, const struct gp_shot *shot)
{
	switch ((enum gp_shot_kind)shot->kind) {
	case GP_SHOT_MAP:
		insert_range(view, range_above(view, shot->addr),
			     (struct range){ shot->addr, shot->size, shot });
		break;
	case GP_SHOT_UNMAP: unmap(view, shot->addr, shot->size); break;
	case GP_SHOT_ALLOC:
		*held_of(view, shot->id) = (struct held){ shot, false };
		break;
	case GP_SHOT_WAIT: held_of(view, shot->id)->is_pending = true; break;
	case GP_SHOT_FREE: held_of(view, shot->id)->shot = NULL; break;
	}
}

/* ---- the state ---- */

static int by_address(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->shot->addr < y->shot->addr ? -1
					     : x->shot->addr > y->shot->addr;
}

/* Moves the blocks to the front, sorted by address; returns their number. */
static size_t sort_held(struct view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < view->held_room; i++)
		if (view->held[i].shot)
			view->held[count++] = view->held[i];
	if (count)
		qsort(view->held, count, sizeof(*view->held), by_address);
	return count;
}

static void add_block(struct view *view, const struct gp_block *block)
{
	if (!block->size)
		return;
	GP_GROW(view->blocks, view->block_count + 1, view->block_room);
	view->blocks[view->block_count++] = *block;
}

static void add_free(struct view *view, uint64_t from, uint64_t to)
{
	add_block(view, &(struct gp_block){ .addr = from,
					    .size = to - from,
					    .id = GP_NO_ID,
					    .state = GP_INACTIVE,
					    .site = GP_NO_SITE });
}

/* Whether the range continues the segment: adjacent pages are one segment, as
 * in a snapshot. */
static bool continues(const struct gp_segment *segment,
		      const struct range *range)
{
	const struct gp_shot *shot = range->shot;

	return segment->is_expandable && shot->is_expandable &&
	       segment->addr + segment->size == range->addr &&
	       segment->stream == shot->stream && segment->pool == shot->pool;
}

static void add_segments(struct view *view)
{
	struct gp_segment *last = NULL;

	view->segments =
		gp_mem_alloc(view->range_count, sizeof(*view->segments));
	for (size_t i = 0; i < view->range_count; i++) {
		const struct range *r = &view->ranges[i];

		if (last && continues(last, r)) {
			last->size += r->size;
			continue;
		}
		last = &view->segments[view->segment_count++];
		*last = (struct gp_segment){
			.addr = r->addr,
			.size = r->size,
			.stream = r->shot->stream,
			.pool = r->shot->pool,
			.is_small = r->shot->is_small,
			.is_expandable = r->shot->is_expandable,
			.site = GP_NO_SITE,
		};
	}
}

/* Fills in a segment's blocks, starting with number `next`, and the free blocks
 * between them. */
static size_t fill_segment(struct view *view, struct gp_segment *segment,
			   size_t next, size_t count)
{
	uint64_t at = segment->addr, end = segment->addr + segment->size;

	segment->first_block = (uint32_t)view->block_count;
	for (; next < count && view->held[next].shot->addr < end; next++) {
		const struct gp_shot *shot = view->held[next].shot;

		if (shot->addr > at)
			add_free(view, at, shot->addr);
		add_block(view, &(struct gp_block){
					.addr = shot->addr,
					.size = shot->size,
					.requested = shot->requested,
					.id = shot->id,
					.state = view->held[next].is_pending
							 ? GP_PENDING_FREE
							 : GP_ACTIVE,
					.site = shot->site,
				});
		at = shot->addr + shot->size;
	}
	if (at < end)
		add_free(view, at, end);
	segment->blocks = (uint32_t)view->block_count - segment->first_block;
	return next;
}

void gp_film_state(const struct gp_film *film, uint64_t event,
		   struct gp_state *state)
{
	struct view view = { 0 };
	const struct gp_shot *shots;
	size_t count = gp_film_shots(film, &shots), next = 0;

	for (size_t i = 0; i < count && shots[i].event <= event; i++)
		follow(&view, &shots[i]);
	count = sort_held(&view);
	add_segments(&view);
	for (size_t i = 0; i < view.segment_count; i++)
		next = fill_segment(&view, &view.segments[i], next, count);
	*state = (struct gp_state){ view.segments, view.blocks,
				    view.segment_count, view.block_count };
	free(view.ranges);
	free(view.held);
}
