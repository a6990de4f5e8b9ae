/* SPDX-License-Identifier: MIT */
/*
 * The end of a build: sorts streams and pools, checks the states, and numbers
 * the blocks (in history.c for a recorded history); gp_build_assemble then
 * makes the trace.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "trace/build_internal.h"
#include "trace/check.h"

/* ---- states: sorted, complete, without overlaps ---- */

static enum gp_status bad_segment(const struct gp_segment *segment,
				  struct gp_diag *diag, const char *what)
{
	gp_diag_record(diag, "segment 0x%" PRIx64, segment->addr);
	gp_diag_hint(diag, "is it damaged, or changed by another tool?");
	return gp_diag_set(diag, GP_INPUT, "%s", what);
}

static enum gp_status bad_state(const struct gp_segment *segment,
				struct gp_diag *diag, const char *what)
{
	enum gp_status status = bad_segment(segment, diag, what);

	gp_diag_hint(diag, "the blocks of a segment must be in address order "
			   "and cover all of it");
	return status;
}

/* Devices have at most 57 bits of addresses; larger sums would also overflow
 * counters. */
#define MOST_BYTES (UINT64_C(1) << 56)

static enum gp_status check_blocks(const struct gp_segment *segment,
				   const struct gp_block *blocks,
				   struct gp_diag *diag)
{
	uint64_t at = segment->addr, left = segment->size;
	uint32_t i;

	for (i = 0; i < segment->blocks; i++) {
		const struct gp_block *block = &blocks[i];

		if (block->addr < at)
			return bad_state(segment, diag, "its blocks overlap");
		if (block->addr > at)
			return bad_state(segment, diag,
					 "a gap between its blocks");
		if (!block->size)
			return bad_state(segment, diag, "a block of 0 bytes");
		if (block->size > left)
			return bad_state(
				segment, diag,
				"its blocks are larger than the segment");
		if (block->state == GP_ACTIVE && block->requested > block->size)
			return bad_state(
				segment, diag,
				"a block smaller than what was requested");
		at += block->size;
		left -= block->size;
	}
	if (left)
		return bad_state(segment, diag,
				 "its blocks do not cover the segment");
	return GP_OK;
}

static enum gp_status check_segment(const struct gp_segment *segment,
				    const struct gp_block *blocks, uint64_t end,
				    struct gp_diag *diag)
{
	if (!segment->addr)
		return bad_segment(segment, diag, "a segment at address 0");
	if (!segment->size)
		return bad_segment(segment, diag, "a segment of 0 bytes");
	if (segment->size > UINT64_MAX - segment->addr ||
	    segment->size > INT64_MAX)
		return bad_segment(segment, diag, "it ends beyond 2^64");
	if (segment->offset && !segment->is_expandable)
		return bad_segment(segment, diag,
				   "it has a reservation_offset, and is not "
				   "expandable");
	if (segment->offset > segment->addr)
		return bad_segment(
			segment, diag,
			"its reservation would begin below address 0");
	if (segment->addr < end)
		return bad_segment(segment, diag,
				   "it overlaps the segment before it");
	if (!segment->blocks)
		return bad_state(segment, diag, "it has no blocks");
	return check_blocks(segment, blocks + segment->first_block, diag);
}

enum gp_status gp_state_check(const struct gp_state *state,
			      struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	uint64_t end = 0, total = 0;
	size_t i;

	for (i = 0; i < state->segment_count && !status; i++) {
		const struct gp_segment *segment = &state->segments[i];

		status = check_segment(segment, state->blocks, end, diag);
		end = segment->addr + segment->size;
		total +=
			segment->size < MOST_BYTES ? segment->size : MOST_BYTES;
		if (!status && total >= MOST_BYTES)
			status = bad_segment(
				segment, diag,
				"more memory than a device can address");
	}
	return status;
}

/* Puts blocks and their names in the order of the sorted segments. */
static void follow_segments(struct gp_build_state *s)
{
	struct gp_block *blocks = gp_mem_alloc(s->block_count, sizeof(*blocks));
	uint64_t *names = gp_mem_alloc(s->block_count, sizeof(*names));
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < s->segment_count; i++) {
		struct gp_segment *segment = &s->segments[i];

		if (segment->blocks) {
			memcpy(blocks + at, s->blocks + segment->first_block,
			       segment->blocks * sizeof(*blocks));
			memcpy(names + at, s->names + segment->first_block,
			       segment->blocks * sizeof(*names));
		}
		segment->first_block = at;
		at += segment->blocks;
	}
	free(s->blocks);
	free(s->names);
	s->blocks = blocks;
	s->names = names;
	s->block_room = s->name_room = s->block_count;
}

static bool is_sorted(const struct gp_build_state *s)
{
	size_t i;

	for (i = 1; i < s->segment_count; i++)
		if (s->segments[i].addr < s->segments[i - 1].addr)
			return false;
	return true;
}

/* A block without an address follows the previous block directly. */
static void place_blocks(const struct gp_segment *segment,
			 struct gp_block *blocks)
{
	uint64_t at = segment->addr;
	uint32_t i;

	for (i = 0; i < segment->blocks; i++) {
		if (!blocks[i].addr)
			blocks[i].addr = at;
		at += blocks[i].size;
	}
}

/* Sorts segments by address, places blocks with addr 0, and checks that blocks
 * cover their segments and that segments do not overlap. */
static enum gp_status settle_state(struct gp_build_state *s,
				   struct gp_diag *diag)
{
	struct gp_state state;
	size_t i;

	for (i = 0; i < s->segment_count; i++)
		if (s->segments[i].blocks)
			place_blocks(&s->segments[i],
				     s->blocks + s->segments[i].first_block);
	if (!is_sorted(s)) {
		gp_sort(GP_SORTED(s->segments, s->segment_count,
				  struct gp_segment, addr));
		follow_segments(s);
	}
	state = (struct gp_state){ .segments = s->segments,
				   .blocks = s->blocks,
				   .segment_count = s->segment_count,
				   .block_count = s->block_count };
	return gp_state_check(&state, diag);
}

/*
 * ---- requests ----
 *
 * The file's ids of blocks become dense ids, in order of first appearance,
 * beginning with the start state.
 */

enum { FREED, LIVE };

/*
 * As long as the file's ids are consecutive numbers, as in a converted trace,
 * an id follows from the name and the map stays empty.
 */
struct numbering {
	bool is_counting;
	uint64_t first;		 /* the first name, then */
	struct gp_map number_of; /* name -> the latest block of that name */
	uint64_t *names;	 /* number -> name */
	uint8_t *states;	 /* number -> FREED or LIVE */
	size_t names_room, states_room;
	uint32_t count;
};

static uint32_t find(const struct numbering *n, uint64_t name)
{
	if (n->is_counting)
		return name - n->first < n->count ? (uint32_t)(name - n->first)
						  : GP_MAP_NONE;
	return gp_map_get(&n->number_of, name);
}

static uint32_t find_live(const struct numbering *n, uint64_t name)
{
	uint32_t id = find(n, name);

	return id != GP_MAP_NONE && n->states[id] == LIVE ? id : GP_MAP_NONE;
}

static uint32_t add(struct numbering *n, uint64_t name)
{
	uint32_t id = n->count++, i;

	GP_GROW(n->names, n->count, n->names_room);
	GP_GROW(n->states, n->count, n->states_room);
	n->names[id] = name;
	n->states[id] = LIVE;
	if (!id)
		n->first = name;
	if (n->is_counting && name - n->first != id) {
		n->is_counting = false;
		for (i = 0; i < id; i++)
			gp_map_put(&n->number_of, n->names[i], i);
	}
	if (!n->is_counting)
		gp_map_put(&n->number_of, name, id);
	return id;
}

/* A block that is pending free and not mentioned again needs no name in a file.
 * It gets a name that no file reaches by counting. */
static uint64_t spare_name(size_t block)
{
	return (uint64_t)INT64_MAX - block;
}

static enum gp_status number_start(struct gp_build_device *d,
				   struct numbering *n, struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->start.block_count; i++) {
		struct gp_block *block = &d->start.blocks[i];
		bool has_name = block->id != GP_NO_ID;
		uint64_t name = has_name ? d->start.names[i] : spare_name(i);

		block->id = GP_NO_ID;
		if (block->state == GP_INACTIVE)
			continue;
		gp_diag_record(diag, "start, block 0x%" PRIx64, block->addr);
		if (!has_name && block->state == GP_ACTIVE) {
			gp_diag_hint(diag, "give it any \"id\" that no other "
					   "block has");
			return gp_diag_set(diag, GP_INPUT,
					   "a live block has no id");
		}
		if (find(n, name) != GP_MAP_NONE)
			return gp_diag_set(diag, GP_INPUT,
					   "two blocks have id %" PRIu64, name);
		block->id = add(n, name);
		if (block->state == GP_PENDING_FREE)
			n->states[block->id] = FREED;
	}
	gp_diag_record(diag, "%s", "");
	return GP_OK;
}

/* Finds the last free of the block of that name, for the hint. */
static void hint_free(const struct gp_build_device *d, size_t at, uint64_t name,
		      struct gp_diag *diag)
{
	size_t i;

	for (i = at; i-- > 0;)
		if (d->events[i].kind == GP_FREE && d->names[i] == name) {
			gp_diag_hint(diag, "event %zu frees it", i);
			return;
		}
	gp_diag_hint(diag, "no earlier event allocates it; what is live when a "
			   "trace begins belongs in its \"start\"");
}

/* The block that event i names is not in a state that the event permits. */
static enum gp_status bad(const struct gp_build *build,
			  const struct gp_build_device *d, size_t i,
			  const char *not_so, struct gp_diag *diag)
{
	gp_build_name_event(build, d, i, diag);
	return gp_diag_set(diag, GP_INPUT, "%s of id %" PRIu64 ", which is %s",
			   gp_event_kind_name(d->events[i].kind), d->names[i],
			   not_so);
}

static enum gp_status number_event(const struct gp_build *build,
				   struct gp_build_device *d, size_t i,
				   struct numbering *n, struct gp_diag *diag)
{
	struct gp_event *event = &d->events[i];
	uint64_t name = d->names[i];

	switch (event->kind) {
	case GP_ALLOC:
		if (find_live(n, name) != GP_MAP_NONE) {
			gp_diag_hint(diag, "an id is unique among the live "
					   "allocations of a device");
			return bad(build, d, i, "live", diag);
		}
		if (n->count == GP_NO_ID) /* 2^32 - 1 allocations */
			return bad(build, d, i, "one too many", diag);
		event->id = add(n, name);
		return GP_OK;
	case GP_FREE:
	case GP_RECORD_STREAM:
		event->id = find_live(n, name);
		if (event->id == GP_MAP_NONE) {
			hint_free(d, i, name, diag);
			return bad(build, d, i, "not live", diag);
		}
		if (event->kind == GP_FREE)
			n->states[event->id] = FREED;
		return GP_OK;
	case GP_SYNCHRONIZE:
	case GP_FREE_COMPLETED:
		if (event->id == GP_NO_ID)
			return GP_OK;
		event->id = find(n, name);
		if (event->id == GP_MAP_NONE) {
			hint_free(d, i, name, diag);
			return bad(build, d, i, "not known", diag);
		}
		if (event->kind == GP_FREE_COMPLETED &&
		    n->states[event->id] == LIVE)
			return bad(build, d, i, "live", diag);
		return GP_OK;
	default: return GP_OK;
	}
}

static enum gp_status number_end(struct gp_build_device *d,
				 const struct numbering *n,
				 struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->end.block_count; i++) {
		struct gp_block *block = &d->end.blocks[i];

		if (block->id == GP_NO_ID || block->state == GP_INACTIVE) {
			block->id = GP_NO_ID;
			continue;
		}
		block->id = find(n, d->end.names[i]);
		if (block->id != GP_MAP_NONE)
			continue;
		gp_diag_record(diag, "end, block 0x%" PRIx64, block->addr);
		return gp_diag_set(diag, GP_INPUT,
				   "id %" PRIu64 " is not known",
				   d->end.names[i]);
	}
	return GP_OK;
}

/* Settles the claims that were made before that many events. */
static enum gp_status settle_claims(const struct gp_build *build,
				    struct gp_build_device *d,
				    struct gp_build_claims *claims,
				    size_t behind, const struct numbering *n,
				    struct gp_diag *diag)
{
	for (; claims->next < claims->count; claims->next++) {
		const struct gp_build_claim *claim =
			&claims->list[claims->next];
		uint32_t id;

		if (claim->behind > behind)
			break;
		id = find(n, claim->name);
		if (id != GP_MAP_NONE && claim->owner < build->owner_count) {
			d->owners[id] = claim->owner;
			continue;
		}
		gp_diag_record(diag, "device %u, id %" PRIu64, d->ordinal,
			       claim->name);
		gp_diag_hint(diag, "the file's \"owners\" has %zu",
			     build->owner_count);
		return id == GP_MAP_NONE ? gp_diag_set(diag, GP_INPUT,
						       "an owner of no block")
					 : gp_diag_set(diag, GP_INPUT,
						       "there is no owner %u",
						       claim->owner);
	}
	return GP_OK;
}

static void make_owners(struct gp_build_device *d)
{
	size_t most = d->start.block_count + d->event_count;

	if (!d->claims.count && !d->start_claims.count)
		return;
	d->owners = gp_mem_alloc(most, sizeof(*d->owners));
	memset(d->owners, 0xff, most * sizeof(*d->owners));
}

/* Converts names to dense ids, for GP_BUILD_REQUESTS. */
static enum gp_status finish_requests(struct gp_build *build,
				      struct gp_build_device *d,
				      struct gp_diag *diag)
{
	struct numbering n = { .is_counting = true };
	enum gp_status status = number_start(d, &n, diag);
	size_t i;

	make_owners(d);
	if (!status)
		status = settle_claims(build, d, &d->start_claims, SIZE_MAX, &n,
				       diag);
	if (!status)
		status = settle_claims(build, d, &d->claims, 0, &n, diag);
	for (i = 0; i < d->event_count && !status; i++) {
		status = number_event(build, d, i, &n, diag);
		if (!status)
			status = settle_claims(build, d, &d->claims, i + 1, &n,
					       diag);
	}
	if (!status)
		status = number_end(d, &n, diag);
	free(n.states);
	gp_map_release(&n.number_of);
	if (status) {
		free(n.names);
		return status;
	}
	free(d->names);
	d->names = n.names;
	if (n.is_counting && !n.first) {
		free(d->names);
		d->names = NULL;
	}
	d->block_ids = n.count;
	return GP_OK;
}

/* ---- tables ---- */

struct ranked {
	uint64_t first, second;
	uint16_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return 0;
}

/* Sorts the values; ranks[old index] is the new index. */
static uint16_t *rank(struct ranked *values, size_t count)
{
	uint16_t *ranks = gp_mem_alloc(count, sizeof(*ranks));
	size_t i;

	qsort(values, count, sizeof(*values), by_value);
	for (i = 0; i < count; i++)
		ranks[values[i].index] = (uint16_t)i;
	return ranks;
}

static uint16_t *sort_streams(struct gp_build *build)
{
	size_t i, count = build->stream_count;
	struct ranked *values = gp_mem_alloc(count, sizeof(*values));
	uint16_t *ranks;

	for (i = 0; i < count; i++)
		values[i] =
			(struct ranked){ build->streams[i], 0, (uint16_t)i };
	ranks = rank(values, count);
	for (i = 0; i < count; i++)
		build->streams[i] = values[i].first;
	free(values);
	return ranks;
}

/* {0, 0} and stream 0 are the smallest, so they stay first. */
static uint16_t *sort_pools(struct gp_build *build)
{
	size_t i, count = build->pool_count;
	struct ranked *values = gp_mem_alloc(count, sizeof(*values));
	uint16_t *ranks;

	for (i = 0; i < count; i++)
		values[i] =
			(struct ranked){ build->pools[i].first,
					 build->pools[i].second, (uint16_t)i };
	ranks = rank(values, count);
	for (i = 0; i < count; i++)
		build->pools[i] = (struct gp_pool_id){ values[i].first,
						       values[i].second };
	free(values);
	return ranks;
}

/* ---- events ---- */

/* Clears the members that a kind does not use, so that equal events compare
 * equal. */
static void tidy(struct gp_event *event, const uint16_t *streams,
		 const uint16_t *pools)
{
	uint8_t has = gp_event_fields(event->kind);

	if (!(has & (GP_HAS_ADDR | GP_HAS_FRACTION)))
		event->addr = 0;
	if (!(has & GP_HAS_SIZE))
		event->size = 0;
	if (!(has & (GP_HAS_ID | GP_HAS_TEXT)))
		event->id = GP_NO_ID;
	if (event->flags & GP_STREAM_WAITS)
		event->by = streams[event->by];
	else if (!(has & GP_HAS_MARK))
		event->mark = 0;
	if (event->stream < GP_NO_STREAM)
		event->stream = streams[event->stream];
	event->pool = pools[event->pool];
}

/* A free has the stream and pool of its alloc; only the history needs the
 * recorded ones. Returns whether each free has its size. */
static bool tidy_places(struct gp_build_device *d)
{
	bool all_say = true;
	size_t i;

	for (i = 0; i < d->event_count; i++) {
		uint8_t has = gp_event_fields(d->events[i].kind);

		if (!(has & GP_HAS_STREAM))
			d->events[i].stream = 0;
		if (!(has & GP_HAS_POOL))
			d->events[i].pool = 0;
		d->events[i].flags &= (uint8_t)~GP_BUILD_LATE;
		if (!d->events[i].size && has & GP_HAS_ID && has & GP_HAS_SIZE)
			all_say = false;
	}
	return all_say;
}

static enum gp_status prepare_events(struct gp_build *build,
				     struct gp_build_device *d,
				     const uint16_t *streams,
				     const uint16_t *pools,
				     struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->event_count; i++) {
		assert(d->events[i].kind < GP_EVENT_KINDS);
		tidy(&d->events[i], streams, pools);
		if (d->events[i].size <= INT64_MAX)
			continue;
		gp_build_name_event(build, d, i, diag);
		gp_diag_hint(diag, "sizes are bytes, at most 2^63 - 1");
		return gp_diag_set(diag, GP_INPUT, "%s of %" PRIu64 " bytes",
				   gp_event_kind_name(d->events[i].kind),
				   d->events[i].size);
	}
	return GP_OK;
}

/*
 * Frees and completions without an address or size get those of the block's
 * allocation.
 */
static void fill_frees(struct gp_build_device *d)
{
	struct place {
		uint64_t addr, size;
	} *places = gp_mem_alloc(d->block_ids, sizeof(*places));
	size_t i;

	for (i = 0; i < d->start.block_count; i++) {
		const struct gp_block *block = &d->start.blocks[i];

		if (block->id != GP_NO_ID)
			places[block->id] =
				(struct place){ block->addr, block->requested };
	}
	for (i = 0; i < d->event_count; i++) {
		struct gp_event *event = &d->events[i];

		if (event->kind == GP_ALLOC) {
			places[event->id] =
				(struct place){ event->addr, event->size };
		} else if ((event->kind == GP_FREE ||
			    event->kind == GP_FREE_COMPLETED) &&
			   event->id != GP_NO_ID) {
			if (!event->addr)
				event->addr = places[event->id].addr;
			if (!event->size)
				event->size = places[event->id].size;
		}
	}
	free(places);
}

/* ---- devices ---- */

static void rank_state(struct gp_build_state *state, const uint16_t *streams,
		       const uint16_t *pools)
{
	size_t i;

	for (i = 0; i < state->segment_count; i++) {
		state->segments[i].stream = streams[state->segments[i].stream];
		state->segments[i].pool = pools[state->segments[i].pool];
	}
}

static enum gp_status finish_device(struct gp_build *build,
				    struct gp_build_device *d,
				    const uint16_t *streams,
				    const uint16_t *pools, struct gp_diag *diag)
{
	enum gp_status status;

	rank_state(&d->start, streams, pools);
	rank_state(&d->end, streams, pools);
	status = prepare_events(build, d, streams, pools, diag);
	if (!status)
		status = settle_state(&d->start, diag);
	if (!status)
		status = settle_state(&d->end, diag);
	if (!status)
		status = build->kind == GP_BUILD_REQUESTS
				 ? finish_requests(build, d, diag)
				 : gp_history_finish_device(build, d, diag);
	if (status)
		return status;
	/* In a history, frees have their sizes, unless the file is damaged. */
	if (!tidy_places(d) || build->kind == GP_BUILD_REQUESTS)
		fill_frees(d);
	return GP_OK;
}

static int by_ordinal(const void *a, const void *b)
{
	const struct gp_build_device *x = a, *y = b;

	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static int by_device_and_time(const void *a, const void *b)
{
	const struct gp_build_mark *x = a, *y = b;

	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Assigns the marks to their devices. Both are sorted; marks of devices that
 * are not in the trace are left out. */
static void share_marks(struct gp_build *build)
{
	const struct gp_build_mark *mark = build->marks;
	const struct gp_build_mark *end;
	size_t i;

	if (!build->mark_count)
		return;
	end = mark + build->mark_count;
	for (i = 0; i < build->device_count; i++) {
		struct gp_build_device *d = &build->devices[i];

		while (mark < end && mark->ordinal < d->ordinal)
			mark++;
		d->marks = mark;
		while (mark < end && mark->ordinal == d->ordinal)
			mark++;
		d->mark_count = (size_t)(mark - d->marks);
	}
}

static enum gp_status finish_devices(struct gp_build *build,
				     struct gp_diag *diag)
{
	uint16_t *streams = sort_streams(build), *pools = sort_pools(build);
	enum gp_status status = GP_OK;
	size_t i;

	if (build->device_count)
		qsort(build->devices, build->device_count,
		      sizeof(*build->devices), by_ordinal);
	if (build->mark_count)
		qsort(build->marks, build->mark_count, sizeof(*build->marks),
		      by_device_and_time);
	share_marks(build);
	for (i = 0; i < build->device_count && !status; i++)
		status = finish_device(build, &build->devices[i], streams,
				       pools, diag);
	free(streams);
	free(pools);
	return status;
}

enum gp_status gp_build_finish(struct gp_build *build, struct gp_trace **trace,
			       struct gp_diag *diag)
{
	enum gp_status status = finish_devices(build, diag);

	if (!status)
		*trace = gp_build_assemble(build);
	gp_build_destroy(build);
	return status;
}
