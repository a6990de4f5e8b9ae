/* SPDX-License-Identifier: MIT */
/* The life of every block of a run. */
#include "metrics/lives.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what each change does ---- */

/* While a film is followed. */
struct reading {
	struct gp_lives *lives;
	uint32_t *last; /* by id: the index of its last life, and 1 */
	size_t last_room;
};

static uint32_t *last_of(struct reading *r, uint32_t id)
{
	size_t before = r->last_room;

	if (id >= before) {
		r->last = gp_mem_grow(r->last, &r->last_room, (size_t)id + 1,
				      sizeof(*r->last));
		memset(r->last + before, 0,
		       (r->last_room - before) * sizeof(*r->last));
	}
	return &r->last[id];
}

static void begin(struct reading *r, const struct gp_shot *shot)
{
	struct gp_lives *lives = r->lives;

	lives->list = gp_mem_grow(lives->list, &lives->room, lives->count + 1,
				  sizeof(*lives->list));
	lives->list[lives->count] = (struct gp_life){
		.alloc = shot->event,
		.freed = GP_LIFE_NO_END,
		.gone = GP_LIFE_NO_END,
		.addr = shot->addr,
		.size = shot->size,
		.requested = shot->requested,
		.id = shot->id,
		.site = shot->site,
		.stream = shot->stream,
		.pool = shot->pool,
		.is_start = shot->is_start,
	};
	*last_of(r, shot->id) = (uint32_t)++lives->count;
}

static void end(struct reading *r, const struct gp_shot *shot)
{
	uint32_t at = *last_of(r, shot->id);
	struct gp_life *life;

	if (!at)
		return;
	life = &r->lives->list[at - 1];
	if (life->freed == GP_LIFE_NO_END)
		life->freed = shot->event;
	if (shot->kind == GP_SHOT_FREE)
		life->gone = shot->event;
}

/* Reserved changes behind the event: of the start, before it. */
static void follow(struct reading *r, const struct gp_shot *shot)
{
	uint64_t *reserved = r->lives->reserved;

	switch ((enum gp_shot_kind)shot->kind) {
	case GP_SHOT_MAP: reserved[shot->event] += shot->size; break;
	case GP_SHOT_UNMAP: reserved[shot->event] -= shot->size; break;
	case GP_SHOT_ALLOC: begin(r, shot); break;
	case GP_SHOT_WAIT:
	case GP_SHOT_FREE: end(r, shot); break;
	}
}

/* ---- sums by moment ---- */

/* From what each event adds, with what it takes below 0, to how much there is.
 */
static void add_up(uint64_t *values, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
		values[i] += values[i - 1];
}

static void sum(struct gp_lives *lives)
{
	for (size_t i = 0; i < lives->count; i++) {
		const struct gp_life *life = &lives->list[i];

		lives->allocated[life->alloc] += life->size;
		if (life->freed != GP_LIFE_NO_END)
			lives->allocated[life->freed] -= life->size;
	}
	add_up(lives->allocated, lives->moments);
	add_up(lives->reserved, lives->moments);
}

void gp_lives_init(struct gp_lives *lives, const struct gp_film *film,
		   uint64_t events)
{
	struct reading reading = { .lives = lives };
	const struct gp_shot *shots;
	size_t count = gp_film_shots(film, &shots);

	*lives = (struct gp_lives){ .moments = events ? events : 1 };
	lives->allocated =
		gp_mem_alloc(lives->moments, sizeof(*lives->allocated));
	lives->reserved =
		gp_mem_alloc(lives->moments, sizeof(*lives->reserved));
	for (size_t i = 0; i < count; i++)
		follow(&reading, &shots[i]);
	free(reading.last);
	sum(lives);
}

void gp_lives_release(struct gp_lives *lives)
{
	free(lives->list);
	free(lives->allocated);
	free(lives->reserved);
	*lives = (struct gp_lives){ 0 };
}

/* ---- asked ---- */

size_t gp_lives_until(const struct gp_lives *lives, uint64_t moment)
{
	size_t low = 0, high = lives->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lives->list[middle].alloc <= moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct gp_life *gp_lives_find(const struct gp_lives *lives, uint32_t id,
				    uint64_t moment)
{
	const struct gp_life *found = NULL;

	for (size_t i = 0; i < lives->count; i++) {
		const struct gp_life *life = &lives->list[i];

		if (life->id != id || (found && life->alloc > moment))
			continue;
		found = life;
	}
	return found;
}

const struct gp_life *gp_lives_stacked(const struct gp_lives *lives,
				       uint64_t moment, uint64_t byte,
				       uint64_t *bottom)
{
	size_t count = gp_lives_until(lives, moment);
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gp_life *life = &lives->list[i];

		if (!gp_life_is_at(life, moment))
			continue;
		if (byte - at < life->size) {
			*bottom = at;
			return life;
		}
		at += life->size;
	}
	return NULL;
}
