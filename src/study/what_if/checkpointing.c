/* SPDX-License-Identifier: MIT */
/*
 * Activation checkpointing: activations that are dropped and recomputed,
 * modelled as shorter lifetimes (Chen, Xu, Zhang, Guestrin: Training Deep Nets
 * with Sublinear Memory Cost, 2016).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "study/what_if/scene.h"

struct pass {
	struct gp_draft_device *device;
	const struct lifetime *lifetimes; /* by id */
	const bool *marked;
	uint64_t blocks, bytes;
};

/* Saturating addition; no device reaches the limits. */
static int64_t plus(int64_t a, int64_t b)
{
	if (b > 0)
		return a > INT64_MAX - b ? INT64_MAX : a + b;
	return a < INT64_MIN - b ? INT64_MIN : a + b;
}

/* The event within [first, end) at which most requested bytes are live: where
 * the forward pass turns into the backward pass. */
static uint64_t turn_of(const struct pass *p, uint64_t first, uint64_t end)
{
	int64_t live = 0, most = INT64_MIN;
	uint64_t turn = first;

	for (uint64_t i = first; i < end; i++) {
		const struct gp_event *event = &p->device->events[i];

		if (event->kind == GP_ALLOC)
			live = plus(live, (int64_t)event->size);
		if (event->kind == GP_FREE)
			live = plus(live,
				    -(int64_t)p->lifetimes[event->id].size);
		if (event->kind == GP_ALLOC && live > most) {
			most = live;
			turn = i;
		}
	}
	return turn;
}

static bool is_within(const struct lifetime *lifetime, uint64_t end)
{
	return lifetime->freed != LIFETIME_NO_END && lifetime->freed < end;
}

/* The median lifetime of those blocks of a step that do not live across the
 * turn. */
static uint64_t usual_life(const struct pass *p, uint64_t first, uint64_t end,
			   uint64_t turn)
{
	uint64_t *list = gp_mem_alloc(end - first, sizeof(*list));
	uint64_t median = 1;
	size_t n = 0;

	for (uint64_t i = first; i < end; i++) {
		const struct gp_event *event = &p->device->events[i];
		const struct lifetime *lifetime;

		if (event->kind != GP_ALLOC)
			continue;
		lifetime = &p->lifetimes[event->id];
		if (is_within(lifetime, end) &&
		    (i > turn || lifetime->freed <= turn))
			list[n++] = lifetime->freed - i;
	}
	if (n) {
		gp_sort(GP_SORTED_NUMBERS(list, n));
		median = list[n / 2];
	}
	free(list);
	return median;
}

/* Splits a lifetime in two; the second part is a block of its own. */
static void split_life(struct pass *p, uint64_t born, uint64_t freed,
		       uint64_t usual)
{
	struct gp_event request = p->device->events[born];
	struct gp_event end = p->device->events[freed];

	end.time_us = p->device->events[born + usual].time_us;
	gp_draft_add(p->device, born + usual, &end);
	request.id = gp_draft_add_block(p->device);
	request.time_us = p->device->events[freed - usual].time_us;
	gp_draft_add(p->device, freed - usual, &request);
	p->device->events[freed].id = request.id;
	p->blocks++;
	p->bytes += request.size;
}

static void shorten(struct pass *p, uint64_t first, uint64_t end)
{
	uint64_t turn = turn_of(p, first, end);
	uint64_t usual = usual_life(p, first, end, turn);

	for (uint64_t i = first; i < turn; i++) {
		const struct gp_event *event = &p->device->events[i];
		const struct lifetime *lifetime;

		if (event->kind != GP_ALLOC || !p->marked[event->id])
			continue;
		lifetime = &p->lifetimes[event->id];
		if (is_within(lifetime, end) && lifetime->is_plain &&
		    !lifetime->is_private && i + usual < turn &&
		    lifetime->freed > turn && lifetime->freed - usual > turn)
			split_life(p, i, lifetime->freed, usual);
	}
}

/* Shortens the lifetimes of a device's marked blocks; returns the number of
 * steps. */
static size_t shorten_device(struct scene *scene, uint32_t d,
			     const bool *marked, uint64_t *bytes)
{
	struct gp_draft_device *device = &scene->draft->devices[d];
	struct lifetime *lifetimes = lifetimes_of(device);
	struct pass pass = { device, lifetimes, marked, 0, 0 };
	struct gp_steps steps;

	scene_steps(scene, d, &steps);
	for (size_t i = 0; i < steps.count; i++)
		shorten(&pass, steps.list[i].first, steps.list[i].end);
	if (!steps.count)
		shorten(&pass, 0, device->event_count);
	scene->note->changes += pass.blocks;
	*bytes += pass.bytes;
	free(steps.list);
	free(lifetimes);
	return steps.count;
}

enum gp_status checkpointing(struct scene *scene)
{
	struct marked marked;
	uint64_t bytes = 0;
	size_t steps = 0;
	char found[64] = "no steps found: the trace is taken as one step";
	enum gp_status status =
		which_mark(scene, scene->note->asked.argument, &marked);

	if (status != GP_OK)
		return status;
	for (uint32_t d = 0; d < marked.devices; d++)
		steps += shorten_device(scene, d, marked.of[d], &bytes);
	marked_release(&marked);
	if (steps)
		snprintf(found, sizeof(found), "in %zu steps", steps);
	scene_note(scene, scene->note->changes, "block",
		   "dropped and recomputed, %s in all, %s", GP_BYTES(bytes),
		   found);
	return GP_OK;
}
