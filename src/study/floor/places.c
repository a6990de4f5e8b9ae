/* SPDX-License-Identifier: MIT */
/*
 * The places of an offline plan: a packing for each stream and pool, and the
 * placement of other blocks in memory that it leaves idle.
 *
 * The pool is the one that serves a request, which depends on the captures and
 * pools that are open: it is taken from a run without a plan.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "gpupool/allocator.h"
#include "gpupool/replay.h"
#include "study/floor/floor.h"
#include "study/floor/place.h"

#define WORK UINT64_C(100000000) /* steps; about a second */

struct group {
	struct gp_spans spans, rest; /* blocks in the plan, and others */
	size_t room, rest_room;
};

struct groups {
	struct group *items;
	size_t count, room;
	struct gp_map of; /* key: stream and pool */
};

static struct group *group_of(struct groups *groups, uint16_t stream,
			      uint16_t pool)
{
	uint64_t key = (uint64_t)pool << 16 | stream;
	uint32_t index = gp_map_get(&groups->of, key);

	if (index == GP_MAP_NONE) {
		index = (uint32_t)groups->count++;
		GP_GROW(groups->items, groups->count, groups->room);
		groups->items[index] = (struct group){ 0 };
		gp_map_put(&groups->of, key, index);
	}
	return &groups->items[index];
}

/* Selects the same blocks in every run. */
static bool is_known(uint32_t id, double known)
{
	return (double)(gp_hash64(id + UINT64_C(1)) >> 11) * 0x1p-53 < known;
}

static void add_span(struct gp_spans *spans, size_t *room,
		     const struct gp_span *span)
{
	GP_GROW(spans->items, spans->count + 1, *room);
	spans->items[spans->count++] = *span;
}

static void note_pool(void *arg, const struct gp_action *action, uint64_t event)
{
	uint16_t *pools = arg;

	if (action->kind == GP_ALLOC || action->kind == GP_OOM)
		pools[event] = action->pool;
}

/* By event index: the pool that serves each request. */
static uint16_t *find_pools(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint16_t *pools =
		gp_mem_alloc(t->event_count + (size_t)1, sizeof(*pools));
	const struct gp_replay_config config = {
		.trace = trace,
		.device = device,
		.engine = gp_engine_find("plan"),
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
		.action = note_pool,
		.action_arg = pools,
	};
	struct gp_replay_result result;
	struct gp_diag ignored = { 0 };

	for (size_t i = 0; i < t->event_count; i++)
		pools[i] = t->events[i].pool;
	if (gp_replay(&config, &result, &ignored) == GP_OK)
		gp_replay_release(&result);
	return pools;
}

static void sort_spans(const struct gp_device_trace *t, const uint16_t *pools,
		       const struct gp_spans *all, double known,
		       struct groups *groups)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct gp_span *span = &all->items[i];
		struct group *group;
		size_t event;

		/* Blocks of the start state keep their place. */
		if (!span->lower)
			continue;
		event = span->lower - 1;
		group = group_of(groups, t->events[event].stream, pools[event]);
		if (is_known(span->id, known))
			add_span(&group->spans, &group->room, span);
		else
			add_span(&group->rest, &group->rest_room, span);
	}
}

static void plan(const struct gp_spans *spans, uint64_t work, uint64_t *places)
{
	const struct gp_floor_config config = { .spans = spans, .work = work };
	struct gp_floor floor;

	gp_floor_find(&config, &floor);
	for (size_t i = 0; i < spans->count; i++)
		places[spans->items[i].id] = floor.offsets[i];
	gp_floor_release(&floor);
}

/* Places the other blocks in order of request, like an allocator that knows the
 * plan and the lifetime of each request. */
static void place_rest(struct group *group, uint64_t work, uint64_t *places)
{
	struct gp_spans *spans = &group->spans, *rest = &group->rest;
	size_t planned = spans->count, placed;
	uint64_t *offsets;
	uint32_t *order;
	struct place *place;

	gp_sort(GP_SORTED(rest->items, rest->count, struct gp_span, lower));
	for (size_t i = 0; i < rest->count; i++)
		add_span(spans, &group->room, &rest->items[i]);
	offsets = gp_mem_alloc(spans->count + 1, sizeof(*offsets));
	order = gp_mem_alloc(rest->count + 1, sizeof(*order));
	place = place_create(spans);
	for (size_t i = 0; i < planned; i++)
		place_put(place, (uint32_t)i, places[spans->items[i].id]);
	for (size_t i = 0; i < rest->count; i++)
		order[i] = (uint32_t)(planned + i);
	place_more(place, order, rest->count, offsets, &work, &placed);
	for (size_t i = 0; i < placed; i++)
		places[rest->items[i].id] = offsets[order[i]];
	place_destroy(place);
	free(order);
	free(offsets);
}

uint64_t *gp_places_make(const struct gp_trace *trace, uint32_t device,
			 double known, bool rest_idle)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint64_t *places =
		gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*places));
	uint16_t *pools = find_pools(trace, device);
	struct groups groups = { 0 };
	struct gp_spans all;

	for (size_t i = 0; i < t->block_ids; i++)
		places[i] = GP_NO_PLACE;
	gp_spans_of_trace(trace, device, GP_FLOOR_ROUND, &all);
	sort_spans(t, pools, &all, known, &groups);
	for (size_t g = 0; g < groups.count; g++) {
		struct group *group = &groups.items[g];
		uint64_t work = WORK / all.count;

		plan(&group->spans, 1 + work * group->spans.count, places);
		if (rest_idle && group->rest.count)
			place_rest(group, 1 + work * group->rest.count, places);
		gp_spans_release(&group->spans);
		gp_spans_release(&group->rest);
	}
	gp_map_release(&groups.of);
	free(groups.items);
	free(pools);
	gp_spans_release(&all);
	return places;
}
