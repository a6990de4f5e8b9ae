/* SPDX-License-Identifier: MIT */
/*
 * Requests: the file's ids of blocks become dense ones, in order of first
 * appearance, the start state's first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/build_internal.h"

enum { FREED, LIVE };

/*
 * While the file's ids count up one by one (a converted trace's do), a name
 * tells its number and the map stays empty.
 */
struct numbering {
	bool is_counting;
	uint64_t first;		 /* the first name, then */
	struct gp_map number_of; /* name -> the newest block of that name */
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

	n->names = gp_mem_grow(n->names, &n->names_room, n->count,
			       sizeof(*n->names));
	n->states = gp_mem_grow(n->states, &n->states_room, n->count,
				sizeof(*n->states));
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

/* What waits to be free and is never spoken of again needs no name in a file.
 * It gets one that no file counts up to. */
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
		if (!has_name && block->state == GP_ACTIVE)
			return gp_diag_set(diag, GP_INPUT,
					   "a live block has no id");
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

/* Where the block of that name was freed last, for the hint. */
static void hint_free(const struct gp_build_device *d, size_t at, uint64_t name,
		      struct gp_diag *diag)
{
	size_t i;

	for (i = at; i-- > 0;)
		if (d->events[i].kind == GP_FREE && d->names[i] == name) {
			gp_diag_hint(diag, "event %zu frees it", i);
			return;
		}
	gp_diag_hint(diag, "no event before allocates it; what is live when a "
			   "trace begins stands in its \"start\"");
}

/* The name of event i is about no block that would make sense there. */
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
		if (event->id == GP_MAP_NONE)
			return bad(build, d, i, "not known", diag);
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

enum gp_status gp_requests_finish_device(struct gp_build *build,
					 struct gp_build_device *d,
					 struct gp_diag *diag)
{
	struct numbering n = { .is_counting = true };
	enum gp_status status = number_start(d, &n, diag);
	size_t i;

	for (i = 0; i < d->event_count && !status; i++)
		status = number_event(build, d, i, &n, diag);
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
