/* SPDX-License-Identifier: MIT */
/*
 * A PyTorch snapshot's history, made into requests.
 *
 * A snapshot knows blocks by address and lists what the allocator did.  Here
 * blocks get ids, blocks from before the first entry are found, and a free
 * whose completion came later says so: the block was used on another stream
 * (record_stream, which a snapshot does not list), until its completion
 * (synchronize).
 */
#include "trace/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Writing has caught up with reading: they part. */
static void part(struct history *h)
{
	h->out_room = 0;
	h->out = gp_mem_grow(NULL, &h->out_room, h->raw_count + h->out_count,
			     sizeof(*h->out));
	memcpy(h->out, h->raw, h->out_count * sizeof(*h->out));
}

void gp_history_push(struct history *h, const struct gp_event *event)
{
	const struct gp_event copy = *event; /* it may be an entry */

	if (h->out == h->raw) {
		if (h->out_count == h->raw_at)
			part(h);
	} else {
		h->out = gp_mem_grow(h->out, &h->out_room, h->out_count + 1,
				     sizeof(*h->out));
	}
	h->out[h->out_count++] = copy;
}

/* A block that nobody allocated in this trace was there before. */
static uint32_t add_start_block(struct history *h, const struct gp_event *entry,
				enum gp_block_state state)
{
	h->start = gp_mem_grow(h->start, &h->start_room, h->start_count + 1,
			       sizeof(*h->start));
	h->start[h->start_count++] = (struct start_block){
		.addr = entry->addr,
		.requested = entry->size,
		.freed_at = h->out_count,
		.id = h->ids,
		.site = GP_NO_SITE,
		.state = (uint8_t)state,
	};
	h->device->guesses.start_blocks++;
	return h->ids++;
}

static void walk_alloc(struct history *h)
{
	struct gp_event event = h->raw[h->raw_at++];

	event.id = h->ids++;
	/* Live already: its free was not recorded. */
	if (gp_map_take(&h->live, event.addr) != GP_MAP_NONE)
		h->device->guesses.lost_entries++;
	gp_map_put(&h->live, event.addr, event.id);
	h->pool_is_released[event.pool] = false;
	gp_history_push(h, &event);
}

/* What a snapshot does not list: some stream still uses the block. */
static void push_use(struct history *h, const struct gp_event *entry,
		     uint32_t id)
{
	struct gp_event use = {
		.kind = GP_RECORD_STREAM,
		.flags = GP_INFERRED,
		.id = id,
		.time_us = entry->time_us,
		.stream = GP_NO_STREAM,
		.site = GP_NO_SITE,
	};

	h->device->guesses.late_frees++;
	gp_history_push(h, &use);
}

static void walk_free(struct history *h)
{
	struct gp_event event = h->raw[h->raw_at++];

	event.id = gp_map_take(&h->live, event.addr);
	if (event.id == GP_MAP_NONE)
		event.id = add_start_block(h, &event, GP_ACTIVE);
	if (event.flags & GP_AT_ONCE || !h->has_completions) {
		event.flags |= GP_AT_ONCE;
		gp_history_push(h, &event);
		return;
	}
	push_use(h, &event, event.id);
	gp_map_put(&h->waiting, event.addr, event.id);
	gp_history_push(h, &event);
}

static bool is_request(const struct gp_event *entry)
{
	return entry->kind == GP_ALLOC || entry->kind == GP_FREE;
}

/*
 * A completion of nothing we know: the block was freed before the first entry
 * and waited.  As the first entry itself it is the second half of a free whose
 * first half the ring buffer just dropped.
 */
static void meet_completed(struct history *h, size_t at)
{
	const struct gp_event *entry = &h->raw[at];
	struct gp_map *map = at ? &h->waiting : &h->live;

	if (gp_map_get(&h->waiting, entry->addr) != GP_MAP_NONE ||
	    gp_map_get(&h->live, entry->addr) != GP_MAP_NONE)
		return;
	gp_map_put(map, entry->addr,
		   add_start_block(h, entry, at ? GP_PENDING_FREE : GP_ACTIVE));
}

static void walk(struct history *h)
{
	size_t i;

	while (h->raw_at < h->raw_count) {
		for (i = h->raw_at; i < h->raw_count && !is_request(&h->raw[i]);
		     i++)
			if (h->raw[i].kind == GP_FREE_COMPLETED)
				meet_completed(h, i);
		if (i > h->raw_at)
			gp_history_run(h, i);
		if (h->raw_at == h->raw_count)
			break;
		if (h->raw[h->raw_at].kind == GP_FREE)
			walk_free(h);
		else
			walk_alloc(h);
	}
}

/* Ids of the end state's blocks; those without were there all along. */
static void name_end_blocks(struct history *h)
{
	struct gp_build_state *end = &h->device->end;

	for (size_t i = 0; i < end->block_count; i++) {
		struct gp_block *b = &end->blocks[i];
		const struct gp_map *map =
			b->state == GP_ACTIVE ? &h->live : &h->waiting;

		b->id = GP_NO_ID;
		if (b->state == GP_INACTIVE)
			continue;
		b->id = gp_map_get(map, b->addr);
		if (b->id != GP_MAP_NONE)
			continue;
		b->id = add_start_block(
			h,
			&(struct gp_event){ .addr = b->addr,
					    .size = b->requested },
			b->state);
		h->device->guesses.start_blocks--; /* this one is known */
		h->start[h->start_count - 1].freed_at = SIZE_MAX;
		h->start[h->start_count - 1].size = b->size;
		h->start[h->start_count - 1].site = b->site;
	}
}

static bool names_block(const struct gp_event *event)
{
	return event->kind != GP_MARK && event->id != GP_NO_ID;
}

static void rename_blocks(struct gp_build_state *state, const uint32_t *names)
{
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].id != GP_NO_ID)
			state->blocks[i].id = names[state->blocks[i].id];
}

/* Events about blocks that found no place in the start state go: whatever was
 * there, it was not this.  The other ids close up. */
static void drop_lost(struct history *h)
{
	uint32_t *names = gp_mem_alloc(h->ids, sizeof(*names)), ids = 0;
	size_t kept = 0;

	for (size_t i = 0; i < h->start_count; i++)
		if (h->start[i].is_lost)
			names[h->start[i].id] = GP_NO_ID;
	for (uint32_t id = 0; id < h->ids; id++)
		if (names[id] != GP_NO_ID)
			names[id] = ids++;
	h->ids = ids;
	for (size_t i = 0; i < h->out_count; i++) {
		struct gp_event event = h->out[i];

		if (names_block(&event)) {
			event.id = names[event.id];
			if (event.id == GP_NO_ID)
				continue;
		}
		h->out[kept++] = event;
	}
	h->out_count = kept;
	rename_blocks(&h->device->start, names);
	rename_blocks(&h->device->end, names);
	free(names);
}

static struct gp_event make_mark(const struct gp_build_mark *mark)
{
	return (struct gp_event){
		.kind = GP_MARK,
		.mark = mark->stage,
		.text = mark->text,
		.time_us = mark->time_us,
		.site = GP_NO_SITE,
	};
}

/* Merges the annotations in by time, before what happened later; from the end,
 * so that the events make room as they go. */
static void place_marks(struct history *h)
{
	const struct gp_build_device *d = h->device;
	size_t event = h->out_count, mark = d->mark_count;
	size_t at = event + mark;

	if (!mark || !event || !h->out[event - 1].time_us)
		return;
	h->out = gp_mem_grow(h->out, &h->out_room, at, sizeof(*h->out));
	h->out_count = at;
	while (mark) {
		if (event &&
		    h->out[event - 1].time_us > d->marks[mark - 1].time_us)
			h->out[--at] = h->out[--event];
		else
			h->out[--at] = make_mark(&d->marks[--mark]);
	}
}

/* Before entries had a pool_id: the pool of the segment they lie in, where that
 * segment is still there at the end. */
static void find_pools(struct history *h)
{
	const struct gp_build_state *end = &h->device->end;
	struct gp_event *raw = h->device->events;

	if (h->build->pool_count == 1 || h->build->release_first >= 12)
		return;
	for (size_t i = 0; i < h->raw_count; i++) {
		size_t at;

		if (raw[i].kind == GP_OOM || raw[i].kind == GP_SNAPSHOT)
			continue;
		at = gp_history_segment_behind(end, raw[i].addr);
		if (at && raw[i].addr - end->segments[at - 1].addr <
				  end->segments[at - 1].size)
			raw[i].pool = end->segments[at - 1].pool;
		else if (raw[i].kind == GP_SEGMENT_ALLOC)
			h->device->guesses.pool_of_segment++;
	}
}

static void read_settings(struct history *h)
{
	struct gp_diag ignored;

	gp_settings_init(&h->settings, h->build->release_last);
	if (h->build->settings)
		gp_settings_parse(&h->settings, h->build->settings, &ignored);
}

static void init(struct history *h)
{
	read_settings(h);
	h->pool_is_released = gp_mem_alloc(h->build->pool_count, sizeof(bool));
	for (size_t i = 0; i < h->raw_count && !h->has_completions; i++)
		h->has_completions = h->raw[i].kind == GP_FREE_COMPLETED ||
				     h->raw[i].flags & GP_AT_ONCE;
	find_pools(h);
}

enum gp_status gp_history_finish_device(struct gp_build *build,
					struct gp_build_device *device,
					struct gp_diag *diag)
{
	struct history h = {
		.build = build,
		.device = device,
		.raw = device->events,
		.out = device->events,
		.raw_count = device->event_count,
		.out_room = device->event_room,
	};

	(void)diag;
	init(&h);
	gp_history_start_segments(&h);
	walk(&h);
	name_end_blocks(&h);
	if (gp_history_start_blocks(&h))
		drop_lost(&h);
	if (h.out != h.raw)
		free(h.raw);
	place_marks(&h);
	device->events = h.out;
	device->event_count = h.out_count;
	device->block_ids = h.ids;
	build->is_complete &= !device->start.segment_count;
	gp_map_release(&h.live);
	gp_map_release(&h.waiting);
	free(h.pool_is_released);
	free(h.start);
	return GP_OK;
}
