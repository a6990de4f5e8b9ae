/* SPDX-License-Identifier: MIT */
/* Slices: a part of a trace that can be replayed on its own. */
#include "trace/slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/store.h"

/* The history of a pool before the slice. */
struct past {
	uint64_t holders;
	/* the event that created it, or recreated it after its end */
	uint64_t first;
	uint64_t last;	 /* the event of its most recent holder */
	uint64_t let_go; /* the event after its last release */
	bool is_counted_twice, has_memory;
};

/* The state while one device is cut. */
struct cutting {
	const struct gp_device_trace *from;
	const struct gp_slice *slice;
	struct gp_arena *arena;
	uint32_t *sites;    /* by id: the site of its last allocation */
	bool *is_live;	    /* by id */
	bool *is_complete;  /* by id: its completion is in the trace */
	size_t completed;   /* how many of slice->completed were passed */
	uint32_t *numbers;  /* by id: the id in the slice, or GP_NO_ID */
	uint64_t *names;    /* by id in the slice */
	uint32_t ids;	    /* ids of the slice so far */
	uint64_t captures;  /* open captures that began before the slice */
	struct past *pasts; /* by pool */
	struct gp_event *events;
	size_t count;
};

/* Ids are dense in the slice, too. */
static uint32_t number(struct cutting *c, uint32_t id)
{
	if (c->numbers[id] == GP_NO_ID) {
		c->names[c->ids] = c->from->names ? c->from->names[id] : id;
		c->numbers[id] = c->ids++;
	}
	return c->numbers[id];
}

static void put(struct cutting *c, const struct gp_event *event)
{
	struct gp_event *to = &c->events[c->count++];

	*to = *event;
	if (gp_event_fields((enum gp_event_kind)event->kind) & GP_HAS_ID &&
	    event->id != GP_NO_ID)
		to->id = number(c, event->id);
}

/* ---- memory at the start ---- */

static void *copy(struct gp_arena *arena, const void *items, size_t n,
		  size_t size)
{
	void *copied = gp_arena_alloc(arena, n, size);

	if (n)
		memcpy(copied, items, n * size);
	return copied;
}

static struct gp_state copy_start(struct cutting *c)
{
	const struct gp_state *start = &c->slice->start;
	struct gp_block *blocks = copy(c->arena, start->blocks,
				       start->block_count, sizeof(*blocks));
	struct gp_state copied = *start;

	for (size_t i = 0; i < start->block_count; i++) {
		if (blocks[i].id == GP_NO_ID)
			continue;
		blocks[i].site = c->sites[blocks[i].id];
		c->is_live[blocks[i].id] = blocks[i].state == GP_ACTIVE;
		blocks[i].id = number(c, blocks[i].id);
	}
	copied.blocks = blocks;
	copied.segments = copy(c->arena, start->segments, start->segment_count,
			       sizeof(*start->segments));
	return copied;
}

/* ---- events before the slice ---- */

static void note_sites(struct cutting *c)
{
	for (uint64_t i = 0; i < c->slice->from; i++) {
		const struct gp_event *event = &c->from->events[i];

		if (event->kind == GP_ALLOC)
			c->sites[event->id] = event->site;
	}
}

/* Whether a request before the slice still has an effect within it. */
static bool lasts(const struct cutting *c, const struct gp_event *event)
{
	switch (event->kind) {
	case GP_SET_FRACTION:
	case GP_SET_SETTINGS:
	case GP_OTHER_MEMORY:
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT:
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END: return true;
	case GP_RECORD_STREAM: return c->is_live[event->id];
	/* Streams that wait for a captured stream join its capture. */
	case GP_SYNCHRONIZE:
		return c->captures && event->flags & GP_STREAM_WAITS;
	default: return false;
	}
}

/* A pool with memory at the start of a trace has one holder there, so a creator
 * that the slice repeats would be counted twice. A pool that has neither a
 * holder nor memory at the start is taken to have ended with its last
 * holder. */
static void note_holder(struct past *past, const struct gp_event *event,
			uint64_t at)
{
	bool is_new = !past->holders;

	switch (event->kind) {
	case GP_ALLOC:
		if (!is_new)
			return;
		past->holders = 1;
		past->is_counted_twice = false;
		break;
	case GP_POOL_CREATE:
	case GP_POOL_BEGIN:
	case GP_CAPTURE_BEGIN:
		past->holders++;
		past->last = at;
		past->is_counted_twice |= is_new;
		break;
	case GP_POOL_RELEASE:
		if (is_new || --past->holders)
			return;
		past->let_go = at + 1;
		if (past->has_memory)
			return;
		at++;
		is_new = true;
		break;
	default: return;
	}
	if (is_new)
		past->first = at;
}

static void note_pools(struct cutting *c)
{
	const struct gp_state *was = &c->from->start;
	const struct gp_state *start = &c->slice->start;

	for (size_t i = 0; i < start->segment_count; i++)
		c->pasts[start->segments[i].pool].has_memory = true;
	for (size_t i = 0; i < was->segment_count; i++)
		c->pasts[was->segments[i].pool].holders = 1;
	for (uint64_t i = 0; i < c->slice->from; i++) {
		const struct gp_event *event = &c->from->events[i];

		if (event->pool)
			note_holder(&c->pasts[event->pool], event, i);
	}
}

/* Whether the event belongs to an earlier pool with the same index, which has
 * ended. */
static bool is_of_ended_pool(const struct cutting *c, const struct past *past,
			     const struct gp_event *event, uint64_t at)
{
	switch (event->kind) {
	case GP_POOL_NO_SPLIT:
		return c->slice->no_split_ends && at < past->let_go;
	case GP_POOL_CREATE:
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END: return event->pool && at < past->first;
	default: return false;
	}
}

static void put_before(struct cutting *c, uint64_t at)
{
	const struct gp_event *event = &c->from->events[at];
	const struct past *past = &c->pasts[event->pool];

	c->captures += event->kind == GP_CAPTURE_BEGIN;
	c->captures -= event->kind == GP_CAPTURE_END && c->captures;
	if (!lasts(c, event) || is_of_ended_pool(c, past, event, at))
		return;
	put(c, event);
	if (event->pool && past->has_memory && past->is_counted_twice &&
	    past->last == at)
		put(c, &(struct gp_event){ .kind = GP_POOL_RELEASE,
					   .pool = event->pool,
					   .id = GP_NO_ID,
					   .site = GP_NO_SITE });
}

/* ---- the slice itself ---- */

/* A block whose allocation was not served is not in the start state; later
 * requests for it are dropped. */
static bool belongs(struct cutting *c, const struct gp_event *event)
{
	switch (event->kind) {
	case GP_ALLOC: c->is_live[event->id] = true; return true;
	case GP_RECORD_STREAM: return c->is_live[event->id];
	case GP_SYNCHRONIZE:
		if (event->id != GP_NO_ID)
			c->is_complete[event->id] = true;
		return true;
	case GP_FREE:
		if (!c->is_live[event->id])
			return false;
		c->is_live[event->id] = false;
		return true;
	default: return true;
	}
}

/* The recorded end state; empty if the slice ends before it, or lacks one of
 * its blocks. */
static struct gp_state copy_end(struct cutting *c)
{
	struct gp_state end = c->from->end;
	struct gp_block *blocks =
		copy(c->arena, end.blocks, end.block_count, sizeof(*blocks));

	if (c->slice->to < c->from->event_count)
		return (struct gp_state){ 0 };
	for (size_t i = 0; i < end.block_count; i++) {
		if (blocks[i].id == GP_NO_ID)
			continue;
		blocks[i].id = c->numbers[blocks[i].id];
		if (blocks[i].id == GP_NO_ID)
			return (struct gp_state){ 0 };
	}
	end.blocks = blocks;
	return end;
}

/* Adds the completions at that event, except for blocks whose own completion is
 * in the trace. */
static void put_completed(struct cutting *c, uint64_t event)
{
	const struct gp_slice *slice = c->slice;

	for (; c->completed < slice->completed_count &&
	       slice->completed[c->completed].event == event;
	     c->completed++)
		if (!c->is_complete[slice->completed[c->completed].id])
			put(c, &(struct gp_event){
				       .kind = GP_SYNCHRONIZE,
				       .id = slice->completed[c->completed].id,
				       .stream = GP_ALL_STREAMS,
				       .site = GP_NO_SITE });
}

static void cut(struct cutting *c, size_t pools, struct gp_device_trace *device)
{
	const struct gp_event *events = c->from->events;

	c->events = gp_arena_alloc(
		c->arena, c->slice->to + c->slice->completed_count + pools,
		sizeof(*c->events));
	note_sites(c);
	note_pools(c);
	device->start = copy_start(c);
	for (uint64_t i = 0; i < c->slice->from; i++)
		put_before(c, i);
	for (uint64_t i = c->slice->from; i < c->slice->to; i++) {
		put_completed(c, i);
		if (belongs(c, &events[i]))
			put(c, &events[i]);
	}
	device->end = copy_end(c);
	device->owners =
		gp_trace_store_owners(c->arena, c->from, c->numbers, c->ids);
	device->names = c->names;
	device->block_ids = c->ids;
	device->events = c->events;
	device->event_count = c->count;
	device->counter_count = 0; /* counters count from the first event on */
}

static void cut_device(struct gp_arena *arena, const struct gp_trace *trace,
		       const struct gp_device_trace *from,
		       const struct gp_slice *slice,
		       struct gp_device_trace *device)
{
	size_t n = (size_t)from->block_ids + 1;
	struct cutting c = {
		.from = from,
		.slice = slice,
		.arena = arena,
		.sites = gp_mem_alloc(n, sizeof(*c.sites)),
		.is_live = gp_mem_alloc(n, sizeof(*c.is_live)),
		.is_complete = gp_mem_alloc(n, sizeof(*c.is_complete)),
		.pasts = gp_mem_alloc(trace->pool_count, sizeof(*c.pasts)),
	};

	c.numbers = gp_mem_alloc(n, sizeof(*c.numbers));
	c.names = gp_arena_alloc(arena, n, sizeof(*c.names));
	for (size_t i = 0; i < n; i++) {
		c.sites[i] = GP_NO_SITE;
		c.numbers[i] = GP_NO_ID;
	}
	cut(&c, trace->pool_count, device);
	free(c.pasts);
	free(c.sites);
	free(c.is_live);
	free(c.is_complete);
	free(c.numbers);
}

/* ---- places to cut ---- */

static bool is_request(const struct gp_event *event)
{
	return event->kind < GP_FIRST_OUTCOME && event->kind != GP_MARK &&
	       event->kind != GP_SYNCHRONIZE;
}

static bool is_of_alloc(const struct gp_event *event)
{
	return gp_event_is_growth(event->kind) ||
	       gp_event_is_release(event->kind) || event->kind == GP_OOM;
}

uint64_t gp_slice_place(const struct gp_device_trace *device, uint64_t event)
{
	const struct gp_event *events = device->events;
	uint64_t at = event;

	while (at && !is_request(&events[at - 1]))
		at--;
	if (at && events[at - 1].kind == GP_EMPTY_CACHE)
		while (at < device->event_count &&
		       gp_event_is_release(events[at].kind))
			at++;
	while (at < event && !is_of_alloc(&events[at]))
		at++;
	return at;
}

struct gp_trace *gp_trace_slice(const struct gp_trace *trace,
				const struct gp_slice *slices)
{
	struct gp_device_trace *devices;
	struct gp_trace_store *store = gp_trace_store_derive(trace, &devices);

	for (size_t i = 0; i < trace->device_count; i++) {
		cut_device(&store->arena, trace, &trace->devices[i], &slices[i],
			   &devices[i]);
		if (slices[i].from)
			store->trace.is_complete = false;
	}
	return &store->trace;
}
