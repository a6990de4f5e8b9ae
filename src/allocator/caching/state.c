/* SPDX-License-Identifier: MIT */
/* Showing the present state, and what a request could have had. */
#include "allocator/caching/state.h"

#include <stdlib.h>

#include "allocator/caching/caching.h"
#include "allocator/caching/size.h"
#include "base/mem.h"

struct showing {
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t segment_count, segment_room, block_count, block_room;
};

/* Whether a snapshot's segment starts with the block: the first of a
 * cudaMalloc'd one, or of a run of mapped blocks. */
static bool starts_segment(const struct block *b)
{
	return b->is_object && b->is_mapped &&
	       (!b->prev || !b->prev->is_mapped);
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = *(struct block *const *)a;
	const struct block *y = *(struct block *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t collect_starts(struct caching *c, struct block ***starts)
{
	size_t n = 0, room = 0;

	*starts = NULL;
	for (size_t i = 0; i < c->blocks.chunk_count * BLOCKS_PER_CHUNK; i++) {
		struct block *b = &c->blocks.chunks[i / BLOCKS_PER_CHUNK]
						   [i % BLOCKS_PER_CHUNK];

		if (!starts_segment(b))
			continue;
		*starts = gp_mem_grow(*starts, &room, n + 1, sizeof(**starts));
		(*starts)[n++] = b;
	}
	if (n)
		qsort(*starts, n, sizeof(**starts), by_address);
	return n;
}

static enum gp_block_state state_of(const struct block *b)
{
	static const enum gp_block_state states[] = {
		[BLOCK_IDLE] = GP_INACTIVE,
		[BLOCK_ALLOCATED] = GP_ACTIVE,
		[BLOCK_WAITING] = GP_PENDING_FREE,
	};

	return states[b->use];
}

static void show_block(struct showing *s, const struct block *b)
{
	s->blocks = gp_mem_grow(s->blocks, &s->block_room, s->block_count + 1,
				sizeof(*s->blocks));
	s->blocks[s->block_count++] = (struct gp_block){
		.addr = b->addr,
		.size = b->size,
		.requested = b->requested,
		.id = b->id,
		.state = (uint8_t)state_of(b),
		.site = GP_NO_SITE,
	};
}

static void show_segment(struct showing *s, const struct block *b)
{
	struct gp_segment segment = {
		.addr = b->addr,
		.stream = b->stream,
		.pool = pool_index(b->pool),
		.is_small = b->pool->is_small,
		.is_expandable = b->segment != NULL,
		.first_block = (uint32_t)s->block_count,
		.site = GP_NO_SITE,
	};

	for (; b && b->is_mapped; b = b->next) {
		show_block(s, b);
		segment.size += b->size;
		segment.blocks++;
	}
	s->segments = gp_mem_grow(s->segments, &s->segment_room,
				  s->segment_count + 1, sizeof(*s->segments));
	s->segments[s->segment_count++] = segment;
}

void state_show(struct caching *c, struct gp_state *state)
{
	struct showing s = { 0 };
	struct block **starts;
	size_t n = collect_starts(c, &starts);

	for (size_t i = 0; i < n; i++)
		show_segment(&s, starts[i]);
	free(starts);
	*state = (struct gp_state){ .segments = s.segments,
				    .blocks = s.blocks,
				    .segment_count = s.segment_count,
				    .block_count = s.block_count };
}

size_t state_candidates(struct caching *c, uint64_t size, uint16_t stream,
			uint16_t pool, struct gp_candidate *out, size_t room)
{
	uint64_t rounded = gp_settings_round(&c->settings, size);
	struct pool_pair *pair = pool_pair_get(c, pool);
	struct shelf *shelf = pool_shelf(
		rounded <= SMALL_SIZE ? &pair->small : &pair->large, stream);
	const struct block *b = shelf ? shelf_best(shelf, rounded) : NULL;
	size_t n = 0;

	for (; b && n < room; b = shelf_next(shelf, b)) {
		const struct block *first = b, *last = b;

		while (first->prev)
			first = first->prev;
		while (last->next)
			last = last->next;
		out[n++] = (struct gp_candidate){
			.addr = b->addr,
			.size = b->size,
			.segment_addr = first->addr,
			.segment_size = last->addr + last->size - first->addr,
		};
	}
	return n;
}
