/* SPDX-License-Identifier: MIT */
/* The places of an offline plan: a packing for each stream and pool. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "gpupool/allocator.h"
#include "study/floor/floor.h"

#define WORK UINT64_C(100000000) /* steps; a second or so */

struct group {
	struct gp_spans spans;
	size_t room;
};

struct groups {
	struct group *items;
	size_t count, room;
	struct gp_map of; /* by stream and pool */
};

static struct group *group_of(struct groups *groups, uint16_t stream,
			      uint16_t pool)
{
	uint64_t key = (uint64_t)pool << 16 | stream;
	uint32_t index = gp_map_get(&groups->of, key);

	if (index == GP_MAP_NONE) {
		index = (uint32_t)groups->count++;
		groups->items =
			gp_mem_grow(groups->items, &groups->room, groups->count,
				    sizeof(*groups->items));
		groups->items[index] = (struct group){ 0 };
		gp_map_put(&groups->of, key, index);
	}
	return &groups->items[index];
}

/* The same ones in every run. */
static bool is_known(uint32_t id, double known)
{
	return (double)(gp_hash64(id + UINT64_C(1)) >> 11) * 0x1p-53 < known;
}

static void sort_spans(const struct gp_device_trace *t,
		       const struct gp_spans *all, double known,
		       struct groups *groups)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct gp_span *span = &all->items[i];
		const struct gp_event *event;
		struct group *group;

		/* What was there before lies where it lay. */
		if (!span->lower || !is_known(span->id, known))
			continue;
		event = &t->events[span->lower - 1];
		group = group_of(groups, event->stream, event->pool);
		group->spans.items = gp_mem_grow(
			group->spans.items, &group->room,
			group->spans.count + 1, sizeof(*group->spans.items));
		group->spans.items[group->spans.count++] = *span;
	}
}

uint64_t *gp_places_make(const struct gp_trace *trace, uint32_t device,
			 double known)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint64_t *places =
		gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*places));
	struct groups groups = { 0 };
	struct gp_spans all;

	for (size_t i = 0; i < t->block_ids; i++)
		places[i] = GP_NO_PLACE;
	gp_spans_of_trace(trace, device, GP_FLOOR_ROUND, &all);
	sort_spans(t, &all, known, &groups);
	for (size_t g = 0; g < groups.count; g++) {
		struct gp_spans *spans = &groups.items[g].spans;
		const struct gp_floor_config config = {
			.spans = spans,
			.work = 1 + WORK / all.count * spans->count,
		};
		struct gp_floor floor;

		gp_floor_find(&config, &floor);
		for (size_t i = 0; i < spans->count; i++)
			places[spans->items[i].id] = floor.offsets[i];
		gp_floor_release(&floor);
		gp_spans_release(spans);
	}
	gp_map_release(&groups.of);
	free(groups.items);
	gp_spans_release(&all);
	return places;
}
