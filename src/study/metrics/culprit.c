/* SPDX-License-Identifier: MIT */
/* Culprits: groups of blocks. */
#include "study/metrics/culprit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/metrics/page.h"
#include "trace/site.h"

/* The top bit distinguishes sites from sizes: no size has it set. */
static uint64_t key_of(const struct asker *asker, enum gp_hold_by by)
{
	if (by == GP_HOLD_BY_SIZE)
		return size_class(asker->requested);
	if (by == GP_HOLD_BY_STREAM)
		return asker->stream;
	if (by == GP_HOLD_BY_POOL)
		return asker->pool;
	if (by == GP_HOLD_BY_CATEGORY)
		return asker->owner.category;
	if (by == GP_HOLD_BY_MODULE)
		return asker->owner.module;
	if (asker->site != GP_NO_SITE)
		return asker->site | UINT64_C(1) << 63;
	return asker->requested & ~(UINT64_C(1) << 63);
}

static void enrol(struct askers *askers, uint32_t id, struct asker asker)
{
	struct gp_culprit *culprit;
	uint64_t key;
	uint32_t at;

	if (askers->pools)
		asker.pool = askers->pools[id];
	key = key_of(&asker, askers->by);
	at = gp_map_get(&askers->by_key, key);
	if (at == GP_MAP_NONE) {
		at = (uint32_t)askers->culprit_count++;
		GP_GROW(askers->culprits, at + 1, askers->culprit_room);
		askers->culprits[at] =
			(struct gp_culprit){ .site = asker.site,
					     .stream = asker.stream,
					     .pool = asker.pool,
					     .owner = asker.owner,
					     .index = at,
					     .least = UINT64_MAX };
		gp_map_put(&askers->by_key, key, at);
	}
	culprit = &askers->culprits[at];
	if (asker.requested < culprit->least)
		culprit->least = asker.requested;
	if (asker.requested > culprit->most)
		culprit->most = asker.requested;
	asker.culprit = at;
	askers->list[id] = asker;
}

static uint32_t own(const uint32_t *shown, uint32_t site)
{
	return site == GP_NO_SITE ? site : shown[site];
}

static void enrol_start(struct askers *askers, const struct gp_trace *trace,
			const struct gp_device_trace *device,
			const struct gp_segment *segment, const uint32_t *shown)
{
	const struct gp_state *start = &device->start;

	for (uint32_t k = 0; k < segment->blocks; k++) {
		const struct gp_block *b =
			&start->blocks[segment->first_block + k];

		if (b->id != GP_NO_ID)
			enrol(askers, b->id,
			      (struct asker){ .requested = b->requested,
					      .event = GP_FROM_START,
					      .site = own(shown, b->site),
					      .stream = segment->stream,
					      .pool = segment->pool,
					      .owner = gp_trace_owner(
						      trace, device, b->id) });
	}
}

bool askers_can_be(enum gp_hold_by by, const struct gp_trace *trace)
{
	return trace->owner_count ||
	       (by != GP_HOLD_BY_CATEGORY && by != GP_HOLD_BY_MODULE);
}

void askers_init_by(struct askers *askers, enum gp_hold_by by,
		    const struct gp_trace *trace,
		    const struct gp_device_trace *device, const uint16_t *pools)
{
	uint32_t *shown = gp_sites_shown(trace);

	*askers = (struct askers){
		.list = gp_mem_alloc(device->block_ids, sizeof(struct asker)),
		.count = device->block_ids,
		.pools = pools,
		.by = by,
	};
	for (size_t i = 0; i < device->start.segment_count; i++)
		enrol_start(askers, trace, device, &device->start.segments[i],
			    shown);
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *e = &device->events[i];

		if (e->kind == GP_ALLOC)
			enrol(askers, e->id,
			      (struct asker){ .requested = e->size,
					      .event = i,
					      .site = own(shown, e->site),
					      .stream = e->stream,
					      .pool = e->pool,
					      .owner = gp_trace_owner(
						      trace, device, e->id) });
	}
	free(shown);
}

void askers_init(struct askers *askers, const struct gp_trace *trace,
		 const struct gp_device_trace *device)
{
	askers_init_by(askers, GP_HOLD_BY_SITE, trace, device, NULL);
}

void askers_release(struct askers *askers)
{
	free(askers->list);
	free(askers->culprits);
	gp_map_release(&askers->by_key);
}

static int by_bytes(const void *a, const void *b)
{
	const struct gp_culprit *x = a, *y = b;

	if (x->byte_events != y->byte_events)
		return x->byte_events > y->byte_events ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->least != y->least)
		return x->least < y->least ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct gp_culprits culprits_rank(struct gp_culprit *culprits, size_t count)
{
	struct gp_culprits ranked = { culprits, 0 };

	for (size_t i = 0; i < count; i++)
		if (culprits[i].bytes)
			culprits[ranked.count++] = culprits[i];
	if (ranked.count)
		qsort(culprits, ranked.count, sizeof(*culprits), by_bytes);
	return ranked;
}

static void note_block(struct gp_culprit *culprit, uint64_t requested,
		       uint64_t bytes)
{
	culprit->blocks++;
	culprit->bytes += bytes;
	if (requested < culprit->least)
		culprit->least = requested;
	if (requested > culprit->most)
		culprit->most = requested;
}

static void note_age(struct gp_culprit *culprit, const struct asker *asker,
		     uint64_t event)
{
	uint64_t age = asker->event == GP_FROM_START ? event + 1
						     : event - asker->event;

	culprit->from_start |= asker->event == GP_FROM_START;
	if (age > culprit->events)
		culprit->events = age;
}

static struct gp_culprit *culprits_blank(const struct askers *askers)
{
	size_t n = askers->culprit_count;
	struct gp_culprit *list = gp_mem_alloc(n, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		list[i] = askers->culprits[i];
		list[i].least = UINT64_MAX;
		list[i].most = 0;
	}
	return list;
}

void culprits_live(const struct askers *askers, const struct gp_state *state,
		   uint64_t event, struct gp_culprits *live)
{
	struct gp_culprit *list = culprits_blank(askers);

	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *b = &state->blocks[i];
		struct gp_culprit *culprit;

		if (b->state != GP_ACTIVE)
			continue;
		culprit = &list[askers->list[b->id].culprit];
		note_block(culprit, b->requested, b->size);
		note_age(culprit, &askers->list[b->id], event);
	}
	*live = culprits_rank(list, askers->culprit_count);
}

void culprits_now(const struct askers *askers, const struct gp_pins *pins,
		  uint64_t event, struct gp_culprits *now)
{
	size_t n = askers->culprit_count;
	struct gp_culprit *list = culprits_blank(askers);
	uint32_t *last_unit = gp_mem_alloc(n, sizeof(*last_unit));

	/* Holders of a unit are adjacent, and so are those that are one block,
	 * which lies in several pages. */
	for (size_t i = 0; i < pins->holder_count; i++) {
		const struct gp_holder *holder = &pins->holders[i];
		const struct asker *asker = &askers->list[holder->id];
		struct gp_culprit *culprit = &list[asker->culprit];

		note_block(culprit, holder->requested, holder->share);
		culprit->blocks -= i && pins->holders[i - 1].id == holder->id;
		note_age(culprit, asker, event);
		if (last_unit[asker->culprit] != holder->unit + 1) {
			culprit->units++;
			culprit->pages += pins->units[holder->unit].is_page;
		}
		last_unit[asker->culprit] = holder->unit + 1;
	}
	free(last_unit);
	*now = culprits_rank(list, n);
}
