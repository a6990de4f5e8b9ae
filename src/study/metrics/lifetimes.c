/* SPDX-License-Identifier: MIT */
/* The lifetimes of the blocks of a run. */
#include "study/metrics/lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"

/* ---- following the changes ---- */

/* The state while following a film. */
struct reading {
	struct gp_lifetimes *lifetimes;
	uint32_t *last; /* by id: index + 1 of its last lifetime */
	size_t last_room;
};

static uint32_t *last_of(struct reading *r, uint32_t id)
{
	size_t before = r->last_room;

	if (id >= before) {
		GP_GROW(r->last, (size_t)id + 1, r->last_room);
		memset(r->last + before, 0,
		       (r->last_room - before) * sizeof(*r->last));
	}
	return &r->last[id];
}

static void begin(struct reading *r, const struct gp_shot *shot)
{
	struct gp_lifetimes *lifetimes = r->lifetimes;

	GP_GROW(lifetimes->list, lifetimes->count + 1, lifetimes->room);
	lifetimes->list[lifetimes->count] = (struct gp_lifetime){
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
	*last_of(r, shot->id) = (uint32_t)++lifetimes->count;
}

static void end(struct reading *r, const struct gp_shot *shot)
{
	uint32_t at = *last_of(r, shot->id);
	struct gp_lifetime *lifetime;

	if (!at)
		return;
	lifetime = &r->lifetimes->list[at - 1];
	if (lifetime->freed == GP_LIFE_NO_END)
		lifetime->freed = shot->event;
	if (shot->kind == GP_SHOT_FREE)
		lifetime->gone = shot->event;
}

/* Applies a change. `reserved` changes after the event, or, for the start
 * state, before the first one. */
static void follow(struct reading *r, const struct gp_shot *shot)
{
	uint64_t *reserved = r->lifetimes->reserved;

	switch ((enum gp_shot_kind)shot->kind) {
	case GP_SHOT_MAP: reserved[shot->event] += shot->size; break;
	case GP_SHOT_UNMAP: reserved[shot->event] -= shot->size; break;
	case GP_SHOT_ALLOC: begin(r, shot); break;
	case GP_SHOT_WAIT:
	case GP_SHOT_FREE: end(r, shot); break;
	}
}

/* ---- sums by moment ---- */

/* Turns the change at each event, in which decreases are wrapped around, into
 * running totals. */
static void add_up(uint64_t *values, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
		values[i] += values[i - 1];
}

static void sum(struct gp_lifetimes *lifetimes)
{
	for (size_t i = 0; i < lifetimes->count; i++) {
		const struct gp_lifetime *lifetime = &lifetimes->list[i];

		lifetimes->allocated[lifetime->alloc] += lifetime->size;
		if (lifetime->freed != GP_LIFE_NO_END)
			lifetimes->allocated[lifetime->freed] -= lifetime->size;
	}
	add_up(lifetimes->allocated, lifetimes->moments);
	add_up(lifetimes->reserved, lifetimes->moments);
}

void gp_lifetimes_init(struct gp_lifetimes *lifetimes,
		       const struct gp_film *film, uint64_t events)
{
	struct reading reading = { .lifetimes = lifetimes };
	const struct gp_shot *shots;
	size_t count = gp_film_shots(film, &shots);

	*lifetimes = (struct gp_lifetimes){ .moments = events ? events : 1 };
	lifetimes->allocated =
		gp_mem_alloc(lifetimes->moments, sizeof(*lifetimes->allocated));
	lifetimes->reserved =
		gp_mem_alloc(lifetimes->moments, sizeof(*lifetimes->reserved));
	for (size_t i = 0; i < count; i++)
		follow(&reading, &shots[i]);
	free(reading.last);
	sum(lifetimes);
}

void gp_lifetimes_release(struct gp_lifetimes *lifetimes)
{
	free(lifetimes->list);
	free(lifetimes->allocated);
	free(lifetimes->reserved);
	*lifetimes = (struct gp_lifetimes){ 0 };
}

/* ---- queries ---- */

size_t gp_lifetimes_until(const struct gp_lifetimes *lifetimes, uint64_t moment)
{
	return gp_sorted_above(GP_SORTED(lifetimes->list, lifetimes->count,
					 struct gp_lifetime, alloc),
			       moment);
}

const struct gp_lifetime *gp_lifetimes_find(
	const struct gp_lifetimes *lifetimes, uint32_t id, uint64_t moment)
{
	const struct gp_lifetime *found = NULL;

	for (size_t i = 0; i < lifetimes->count; i++) {
		const struct gp_lifetime *lifetime = &lifetimes->list[i];

		if (lifetime->id != id || (found && lifetime->alloc > moment))
			continue;
		found = lifetime;
	}
	return found;
}

const struct gp_lifetime *gp_lifetimes_stacked(
	const struct gp_lifetimes *lifetimes, uint64_t moment, uint64_t byte,
	uint64_t *bottom)
{
	size_t count = gp_lifetimes_until(lifetimes, moment);
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gp_lifetime *lifetime = &lifetimes->list[i];

		if (!gp_life_is_at(lifetime, moment))
			continue;
		if (byte - at < lifetime->size) {
			*bottom = at;
			return lifetime;
		}
		at += lifetime->size;
	}
	return NULL;
}
