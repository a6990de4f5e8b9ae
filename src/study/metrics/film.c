/* SPDX-License-Identifier: MIT */
/* Recording a film of a run, and its state at one moment: see film.h. */
#include "study/metrics/film.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SMALL_SEGMENT (UINT64_C(2) << 20) /* kSmallBuffer */

struct gp_film {
	const struct gp_device_trace *device;
	struct gp_shot *shots;
	size_t count, room;
	int64_t allocated; /* in bytes, after the last event */
	/* The size of the last alloc's block is not known yet. */
	bool is_unsettled;
	size_t unsettled;
};

static struct gp_shot *add(struct gp_film *film, const struct gp_shot *shot)
{
	GP_GROW(film->shots, film->count + 1, film->room);
	film->shots[film->count] = *shot;
	return &film->shots[film->count++];
}

/* ---- the start state ---- */

static void add_start_block(struct gp_film *film,
			    const struct gp_segment *segment,
			    const struct gp_block *block)
{
	struct gp_shot shot = {
		.kind = GP_SHOT_ALLOC,
		.addr = block->addr,
		.size = block->size,
		.requested = block->requested,
		.id = block->id,
		.site = block->site,
		.stream = segment->stream,
		.pool = segment->pool,
		.is_start = true,
	};

	/* Free memory has no id. */
	if (block->id == GP_NO_ID)
		return;
	add(film, &shot);
	if (block->state == GP_ACTIVE)
		film->allocated += (int64_t)block->size;
	shot.kind = GP_SHOT_WAIT;
	if (block->state == GP_PENDING_FREE)
		add(film, &shot);
}

static void add_start(struct gp_film *film, const struct gp_state *start)
{
	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *s = &start->segments[i];

		add(film, &(struct gp_shot){
				  .kind = GP_SHOT_MAP,
				  .addr = s->addr,
				  .size = s->size,
				  .id = GP_NO_ID,
				  .site = s->site,
				  .stream = s->stream,
				  .pool = s->pool,
				  .is_expandable = s->is_expandable,
				  .is_small = s->is_small,
				  .is_start = true,
			  });
		for (uint32_t k = 0; k < s->blocks; k++)
			add_start_block(film, s,
					&start->blocks[s->first_block + k]);
	}
}

struct gp_film *gp_film_create(const struct gp_device_trace *device)
{
	struct gp_film *film = gp_mem_alloc(1, sizeof(*film));

	film->device = device;
	add_start(film, &device->start);
	return film;
}

void gp_film_destroy(struct gp_film *film)
{
	if (!film)
		return;
	free(film->shots);
	free(film);
}

/* ---- during the run ---- */

static void add_memory(struct gp_film *film, const struct gp_action *action,
		       uint64_t event)
{
	bool is_map = gp_event_is_growth(action->kind);

	add(film, &(struct gp_shot){
			  .kind = is_map ? GP_SHOT_MAP : GP_SHOT_UNMAP,
			  .event = event,
			  .addr = action->addr,
			  .size = action->size,
			  .id = GP_NO_ID,
			  .site = GP_NO_SITE,
			  .stream = action->stream,
			  .pool = action->pool,
			  .is_expandable = action->kind == GP_SEGMENT_MAP,
			  .is_small = action->size == SMALL_SEGMENT,
		  });
}

static void add_block(struct gp_film *film, const struct gp_action *action,
		      uint64_t event)
{
	const struct gp_event *request = &film->device->events[event];

	add(film, &(struct gp_shot){
			  .kind = GP_SHOT_ALLOC,
			  .event = event,
			  .addr = action->addr,
			  .size = action->size,
			  .requested = action->size,
			  .id = action->id,
			  .site = request->site,
			  .stream = action->stream,
			  .pool = action->pool,
		  });
	film->is_unsettled = true;
	film->unsettled = film->count - 1;
}

static void add_free(struct gp_film *film, const struct gp_action *action,
		     uint64_t event, enum gp_shot_kind kind)
{
	struct gp_shot *last =
		film->count ? &film->shots[film->count - 1] : NULL;

	/* The block was freed without delay, as almost always: one change. */
	if (kind == GP_SHOT_FREE && last && last->kind == GP_SHOT_WAIT &&
	    last->event == event && last->id == action->id) {
		last->kind = GP_SHOT_FREE;
		return;
	}
	add(film, &(struct gp_shot){
			  .kind = (uint8_t)kind,
			  .event = event,
			  .addr = action->addr,
			  .id = action->id,
			  .site = GP_NO_SITE,
		  });
}

void gp_film_action(struct gp_film *film, const struct gp_action *action,
		    uint64_t event)
{
	switch (action->kind) {
	case GP_SEGMENT_ALLOC:
	case GP_SEGMENT_MAP:
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP: add_memory(film, action, event); break;
	case GP_ALLOC: add_block(film, action, event); break;
	case GP_FREE: add_free(film, action, event, GP_SHOT_WAIT); break;
	case GP_FREE_COMPLETED:
		add_free(film, action, event, GP_SHOT_FREE);
		break;
	default: break;
	}
}

void gp_film_look(struct gp_film *film, const struct gp_allocator *allocator)
{
	int64_t now = gp_level_now(&allocator->levels[GP_STAT_ALLOCATED_BYTES]);

	if (film->is_unsettled && now > film->allocated)
		film->shots[film->unsettled].size =
			(uint64_t)(now - film->allocated);
	film->is_unsettled = false;
	film->allocated = now;
}

size_t gp_film_shots(const struct gp_film *film, const struct gp_shot **shots)
{
	*shots = film->shots;
	return film->count;
}

/* ---- the state at a moment: following the changes ---- */

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
	GP_INSERT(view->ranges, view->range_count, view->range_room, at);
	view->ranges[at] = range;
}

/* Removes mapped memory; an expandable segment may keep other pages. */
static void unmap(struct view *view, uint64_t addr, uint64_t size)
{
	size_t at = range_above(view, addr);
	uint64_t end = addr + size;

	while (at < view->range_count && view->ranges[at].addr < end) {
		struct range old = view->ranges[at];
		uint64_t old_end = old.addr + old.size;

		GP_REMOVE(view->ranges, view->range_count, at);
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

/* ---- the state at a moment: segments and blocks ---- */

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

static void put_block(struct view *view, const struct gp_block *block)
{
	if (!block->size)
		return;
	GP_GROW(view->blocks, view->block_count + 1, view->block_room);
	view->blocks[view->block_count++] = *block;
}

static void put_free(struct view *view, uint64_t from, uint64_t to)
{
	put_block(view, &(struct gp_block){ .addr = from,
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
			put_free(view, at, shot->addr);
		put_block(view, &(struct gp_block){
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
		put_free(view, at, end);
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
