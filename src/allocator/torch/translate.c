/* SPDX-License-Identifier: MIT */
/*
 * Translates what PyTorch reports into the trace's terms: its actions, and the
 * segments and blocks of its snapshot.
 */
#include "allocator/torch/torch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sorted.h"

/* ---- actions ---- */

static const uint8_t kinds[TORCH_DID_ACTIONS] = {
	[TORCH_DID_ALLOC] = GP_ALLOC,
	[TORCH_DID_FREE_REQUESTED] = GP_FREE,
	[TORCH_DID_FREE_COMPLETED] = GP_FREE_COMPLETED,
	[TORCH_DID_SEGMENT_ALLOC] = GP_SEGMENT_ALLOC,
	[TORCH_DID_SEGMENT_FREE] = GP_SEGMENT_FREE,
	[TORCH_DID_SEGMENT_MAP] = GP_SEGMENT_MAP,
	[TORCH_DID_SEGMENT_UNMAP] = GP_SEGMENT_UNMAP,
	[TORCH_DID_SNAPSHOT] = GP_SNAPSHOT,
	[TORCH_DID_OOM] = GP_OOM,
};

static uint32_t id_of(struct torch *t, uint32_t action, uint64_t addr)
{
	switch (action) {
	case TORCH_DID_ALLOC:
		gp_map_put(&t->ids, addr, t->id);
		t->pools[t->id] = t->pool;
		return t->id;
	case TORCH_DID_FREE_REQUESTED: return gp_map_get(&t->ids, addr);
	case TORCH_DID_FREE_COMPLETED: return gp_map_take(&t->ids, addr);
	default: return GP_NO_ID;
	}
}

static uint16_t pool_of_segment(struct torch *t, uint32_t action, uint64_t addr)
{
	uint32_t pool;

	if (action == TORCH_DID_SEGMENT_ALLOC ||
	    action == TORCH_DID_SEGMENT_MAP) {
		gp_map_put(&t->segment_pools, addr, t->pool);
		return t->pool;
	}
	if (action == TORCH_DID_OOM)
		return t->pool;
	pool = gp_map_get(&t->segment_pools, addr);
	return pool == GP_MAP_NONE ? 0 : (uint16_t)pool;
}

/* Entries name their pool from 2.12 on. Before, it is the pool of the
 * request; a range that is unmapped on its own is assumed to belong to the
 * default pool. */
static uint16_t pool_of(struct torch *t, const struct torch_message *m,
			uint32_t id)
{
	if (t->release >= 12)
		return torch_pool_index(t, m->pool);
	return id != GP_NO_ID ? t->pools[id]
			      : pool_of_segment(t, m->what, m->addr);
}

/* Calls that PyTorch makes to a real device are counted by their effects. Pages
 * are 2 MiB or, in large ranges, a size that divides the range. */
static void count_call(const struct torch *t, const struct torch_message *m)
{
	struct gp_device_calls *calls = &t->config.device->calls;
	uint64_t large = t->config.settings->large_segment_size;
	uint64_t page = m->size % large ? GP_DEVICE_GRAIN : large;

	switch (m->what) {
	case TORCH_DID_SEGMENT_ALLOC: gp_call_malloc(calls, m->size); break;
	case TORCH_DID_SEGMENT_FREE: gp_call_free(calls, m->size); break;
	case TORCH_DID_SEGMENT_MAP: gp_call_map(calls, m->size, page); break;
	case TORCH_DID_SEGMENT_UNMAP:
		gp_call_unmap(calls, m->size, page);
		break;
	case TORCH_DID_OOM: calls->malloc_failed++; break;
	default: break;
	}
}

void torch_take_action(struct torch *t, const struct torch_message *m)
{
	struct gp_action action;

	if (m->what >= TORCH_DID_ACTIONS)
		return;
	if (t->config.torch_cuda)
		count_call(t, m);
	else if (m->what == TORCH_DID_SEGMENT_MAP)
		t->config.device->calls.access++;
	action = (struct gp_action){
		.kind = kinds[m->what],
		.stream = torch_stream_index(t, m->stream),
		.id = id_of(t, m->what, m->addr),
		.addr = m->addr,
		.size = m->size,
	};
	action.pool = pool_of(t, m, action.id);
	if (t->config.action)
		t->config.action(t->config.action_arg, &action);
}

/* ---- segments and blocks ---- */

struct torch_snapshot {
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t segment_count, segment_room, block_count, block_room;
	uint64_t at; /* where the next block starts */
};

static void add_segment(struct torch *t, const struct torch_message *piece)
{
	struct torch_snapshot *p = t->snapshot;

	GP_GROW(p->segments, p->segment_count + 1, p->segment_room);
	p->segments[p->segment_count++] = (struct gp_segment){
		.addr = piece->addr,
		.size = piece->size,
		.stream = torch_stream_index(t, piece->stream),
		.pool = torch_pool_index(t, piece->pool),
		.is_small = piece->what & TORCH_IS_SMALL,
		.is_expandable = piece->what & TORCH_IS_EXPANDABLE,
		.first_block = (uint32_t)p->block_count,
		.site = GP_NO_SITE,
	};
	p->at = piece->addr;
}

static void add_block(struct torch *t, const struct torch_message *piece)
{
	struct torch_snapshot *p = t->snapshot;
	uint8_t state = (uint8_t)piece->what; /* enum gp_block_state */
	uint32_t id = GP_NO_ID;

	if (!p->segment_count)
		return;
	if (state != GP_INACTIVE)
		id = gp_map_get(&t->ids, p->at);
	GP_GROW(p->blocks, p->block_count + 1, p->block_room);
	p->blocks[p->block_count++] = (struct gp_block){
		.addr = p->at,
		.size = piece->size,
		.requested = piece->page,
		.id = id,
		.state = state,
		.site = GP_NO_SITE,
	};
	p->segments[p->segment_count - 1].blocks++;
	p->at += piece->size;
}

void snapshot_add(struct torch *t, const struct torch_message *piece)
{
	if (!t->snapshot)
		return;
	if (piece->kind == TORCH_SEGMENT)
		add_segment(t, piece);
	else
		add_block(t, piece);
}

void torch_state(struct gp_allocator *allocator, struct gp_state *state)
{
	struct torch *t = torch_of(allocator);
	struct torch_snapshot p = { 0 };

	t->snapshot = &p;
	torch_request(t, (struct torch_request){ .op = TORCH_STATE }, NULL,
		      NULL);
	t->snapshot = NULL;
	gp_sort(GP_SORTED(p.segments, p.segment_count, struct gp_segment,
			  addr));
	*state = (struct gp_state){ p.segments, p.blocks, p.segment_count,
				    p.block_count };
}

/* ---- free blocks ---- */

static int by_size(const void *a, const void *b)
{
	const struct gp_candidate *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t collect(const struct gp_state *state,
		      const struct gp_segment *segment, uint64_t least,
		      struct gp_candidate *found)
{
	size_t n = 0;

	for (uint32_t i = 0; i < segment->blocks; i++) {
		const struct gp_block *b =
			&state->blocks[segment->first_block + i];

		if (b->state == GP_INACTIVE && b->size >= least)
			found[n++] = (struct gp_candidate){ b->addr, b->size,
							    segment->addr,
							    segment->size };
	}
	return n;
}

size_t torch_candidates(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool,
			struct gp_candidate *out, size_t room)
{
	struct gp_candidate *found;
	struct gp_route route;
	struct gp_state state;
	size_t n = 0;

	torch_route(allocator, size, stream, pool, &route);
	torch_state(allocator, &state);
	found = gp_mem_alloc(state.block_count + 1, sizeof(*found));
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *s = &state.segments[i];

		if (s->stream == stream && s->pool == route.pool &&
		    s->is_small == route.is_small)
			n += collect(&state, s, route.rounded, found + n);
	}
	qsort(found, n, sizeof(*found), by_size);
	if (n > room)
		n = room;
	for (size_t i = 0; i < n; i++)
		out[i] = found[i];
	free(found);
	gp_state_release(&state);
	return n;
}
