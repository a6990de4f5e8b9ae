/* SPDX-License-Identifier: MIT */
/* Recording a film of a run: see film.h. */
#include "study/metrics/film.h"

#include <stdlib.h>

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

	if (block->state == GP_INACTIVE || block->id == GP_NO_ID)
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
