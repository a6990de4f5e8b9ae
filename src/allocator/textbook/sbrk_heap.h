/* SPDX-License-Identifier: MIT */
/*
 * A textbook heap: one address range with memory up to its end, as with sbrk,
 * and a list of adjacent blocks without gaps. It grows by whole pages if no
 * free block fits; a freed block is merged with free neighbours; trim releases
 * the free pages at the end. So its peak size is that of the smallest arena
 * with which the same algorithm could have worked.
 *
 * Which free block is used is up to an index: heap_by_address, heap_by_size
 * (treap.c), or one of the engine's own.
 */
#ifndef ALLOCATOR_TEXTBOOK_SBRK_HEAP_H
#define ALLOCATOR_TEXTBOOK_SBRK_HEAP_H

#include <stddef.h>

#include "base/larger.h"
#include "gpupool/engine.h"

#define HEAP_GRAIN     512 /* heap_alloc() rounds up to this, in bytes */
/* The most address space that a heap reserves, in bytes. */
#define HEAP_ADDRESSES (UINT64_C(1) << 47)

static inline uint64_t heap_round(uint64_t size)
{
	return gp_round_up(size, HEAP_GRAIN);
}

/* The number of size classes per power of two. */
#define HEAP_PARTS   8
#define HEAP_CLASSES (64 * HEAP_PARTS)

struct heap_block {
	uint64_t addr, size;
	uint64_t largest;      /* largest free block of the subtree */
	uint32_t before, next; /* by address; 0: none */
	uint32_t links[2];     /* for the index, of a free block */
	uint32_t order;	       /* for the index, of a free block */
	bool is_free;
};

struct heap;

/* An index of the free blocks. Blocks are identified by number; 0 means
 * none. */
struct heap_index {
	void (*add)(struct heap *heap, uint32_t block);
	void (*drop)(struct heap *heap, uint32_t block);
	uint32_t (*find)(struct heap *heap, uint64_t size);
	uint64_t (*largest)(const struct heap *heap);
	/* replace: a block takes the place of another between the same
	 * neighbours. extend: a block grows at its end. NULL: drop and add are
	 * called. */
	void (*replace)(struct heap *heap, uint32_t old, uint32_t block);
	void (*extend)(struct heap *heap, uint32_t block, uint64_t more);
};

/* Engines extend this struct. */
struct heap {
	const struct gp_memory *memory;
	const struct heap_index *index;
	uint64_t base, end, limit; /* end of the memory, and of the addresses */
	struct heap_block *blocks; /* index 0 is not used */
	size_t count, room;
	uint32_t spare, last; /* list of unused numbers; last block */
	uint32_t root;	      /* root of the tree by address */
	/* Roots of the trees by size, one per class, and a bitmap of the
	 * classes that are not empty. */
	uint32_t roots[HEAP_CLASSES];
	uint64_t classes[HEAP_CLASSES / 64];
};

/* Reserves as many addresses as the device has bytes, rounded to a power of
 * two; 0: it failed. */
uint64_t heap_reserve(const struct gp_memory *memory, uint64_t *addr);

/* Creates an engine's struct of that many bytes, zeroed apart from the heap;
 * NULL: no addresses are left. */
void *heap_create(const struct gp_memory *memory,
		  const struct heap_index *index, size_t bytes);
/* The same without an address range, for heap_add_region(). */
void *heap_create_empty(const struct gp_memory *memory,
			const struct heap_index *index, size_t bytes);
void heap_release(struct heap *heap);

/* Allocates a block; 0: out of memory. size is not 0. */
uint32_t heap_take(struct heap *heap, uint64_t size);
/* The same at a given address; 0 also if that is not free. */
uint32_t heap_take_at(struct heap *heap, uint64_t addr, uint64_t size);
/* Allocates a free block; the rest beyond size stays free. */
void heap_cut(struct heap *heap, uint32_t block, uint64_t size);
void heap_give(struct heap *heap, uint32_t block);

/* Adds a region with its own list of blocks, initially one free block. When the
 * block with that number is free and whole again, the region may be dropped. */
uint32_t heap_add_region(struct heap *heap, uint64_t addr, uint64_t size);
void heap_drop_region(struct heap *heap, uint32_t block);

/* Functions of an engine table that need no more than the heap. */
void heap_destroy(void *self);
bool heap_alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece);
void heap_free(void *self, const struct gp_piece *piece);
void heap_trim(void *self);
uint64_t heap_largest_free(void *self);

extern const struct heap_index heap_by_address; /* first fit */
extern const struct heap_index heap_by_size;	/* best fit, then lowest */
/* The free block that contains the address; 0: none. */
uint32_t heap_find_at(const struct heap *heap, uint64_t addr);
/* The lowest free block from that address on that is large enough; 0: none. */
uint32_t heap_find_from(const struct heap *heap, uint64_t addr, uint64_t size);

#endif
