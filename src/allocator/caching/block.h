/*
 * Blocks: the pieces that segments are cut into.
 *
 * A block is allocated, free (on its pool's shelf), waiting for events, or,
 * in an expandable segment, unmapped.  prev and next are its neighbours by
 * address within its segment.  Fields are PyTorch's struct Block
 * (c10/cuda/CUDACachingAllocator.cpp); the ones a request touches come first,
 * in one cache line.
 */
#ifndef CACHING_BLOCK_H
#define CACHING_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caching_pool;
struct expandable_segment;
struct stream_set;

struct block {
	uint64_t addr, size;
	struct block *prev, *next;
	struct block *left, *right; /* in the shelf's tree */
	/* Decides between free blocks of one size before the address does:
	 * 0 up to 2.11, the object's number in 2.12, its segment's from 2.13.
	 */
	uint64_t counter;
	uint16_t stream;
	bool is_allocated, is_mapped;
	uint32_t priority; /* in the shelf's tree */

	uint64_t requested;
	struct caching_pool *pool;
	struct expandable_segment *segment; /* NULL: from cudaMalloc */
	struct stream_set *uses;	    /* other streams; NULL: none */
	struct stream_set *captured;	    /* those recorded while suspended */
	uint64_t gc_base; /* the pool's searches when it was last shelved */
	uint32_t id;
	uint32_t event_count;
	bool uses_unknown; /* used on a stream the trace does not name */
	bool is_object;	   /* false: on the table's free list */
};

static inline bool block_is_split(const struct block *b)
{
	return b->prev || b->next;
}

/* Neither allocated nor waiting: may be merged or mapped behind. */
static inline bool block_is_idle(const struct block *b)
{
	return !b->is_allocated && !b->event_count && !b->uses &&
	       !b->uses_unknown;
}

/* All blocks of an allocator: chunks, so that pointers stay. */
#define BLOCKS_PER_CHUNK 512
struct block_table {
	struct block **chunks;
	size_t chunk_count, chunk_room;
	struct block *spare; /* through next */
	uint32_t seed;
};

struct block *block_create(struct block_table *table);
void block_destroy(struct block_table *table, struct block *b);
void block_table_release(struct block_table *table);

#endif
