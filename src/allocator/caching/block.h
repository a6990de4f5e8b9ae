/* SPDX-License-Identifier: MIT */
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

#include "gpupool/trace.h"

struct caching_pool;
struct expandable_segment;
struct stream_set;

enum block_use {
	BLOCK_IDLE,
	BLOCK_ALLOCATED,
	BLOCK_WAITING, /* freed, but some stream may still use it */
};

struct block {
	uint64_t addr, size;
	struct block *prev, *next;
	struct block *left, *right; /* in the shelf's list or tree */
	/* Decides between free blocks of one size before the address does:
	 * 0 up to 2.11, the object's number in 2.12, its segment's from 2.13.
	 */
	uint32_t counter;
	uint16_t stream;
	uint8_t use; /* enum block_use */
	bool is_mapped : 1;
	bool is_in_tree : 1;
	struct caching_pool *pool;

	struct block *parent; /* in the tree */
	uint64_t requested;
	struct expandable_segment *segment; /* NULL: from cudaMalloc */
	/* Other streams; NULL: none, or it waits for one, which is wait_stream,
	 * and gc_base the number of its event. */
	struct stream_set *uses;
	struct stream_set *captured; /* those recorded while suspended */
	uint64_t gc_base; /* the pool's searches when it was last shelved */
	uint32_t id;
	uint32_t event_count;
	bool uses_unknown; /* used on a stream the trace does not name */
	bool is_unnamed;   /* among the events' unnamed */
	bool is_object;	   /* false: on the table's free list */
	uint16_t wait_stream;
};

static inline bool block_is_split(const struct block *b)
{
	return b->prev || b->next;
}

/* The shelf's order. */
static inline bool block_is_before(const struct block *a, const struct block *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	if (a->counter != b->counter)
		return a->counter < b->counter;
	return a->addr < b->addr;
}

/* All blocks of an allocator: chunks, so that pointers stay. */
#define BLOCKS_PER_CHUNK 512
struct block_table {
	struct block **chunks;
	size_t chunk_count, chunk_room;
	struct block *spare; /* through next */
};

void block_table_grow(struct block_table *table);
void block_forget_captured(struct block *b); /* in events.c */

/* The new object is idle, mapped, in no segment; who makes it says where it
 * lies, its pool, stream and counter. */
static inline struct block *block_create(struct block_table *table)
{
	struct block *b;

	if (!table->spare)
		block_table_grow(table);
	b = table->spare;
	table->spare = b->next;
	b->prev = b->next = NULL;
	b->is_mapped = true;
	b->is_object = true;
	b->id = GP_NO_ID;
	return b;
}

/* Of an idle block. */
static inline void block_destroy(struct block_table *table, struct block *b)
{
	if (b->captured)
		block_forget_captured(b);
	b->requested = 0;
	b->segment = NULL;
	b->is_object = false;
	b->next = table->spare;
	table->spare = b;
}
void block_table_release(struct block_table *table);

#endif
