/* SPDX-License-Identifier: MIT */
/*
 * A heap as textbooks have it: one range of addresses with memory up to its
 * end, as sbrk gives it, and a chain of blocks without gaps.  It grows by whole
 * pages where no free block serves; what is freed is joined with its free
 * neighbours; trim gives pages at its end back.  So its size at most is the
 * smallest arena that the same algorithm could have been given.
 *
 * Which free block serves is an index's to say: heap_by_address, heap_by_size
 * (treap.c), or one of the engine's own.
 */
#ifndef ALLOCATOR_TEXTBOOK_SBRK_HEAP_H
#define ALLOCATOR_TEXTBOOK_SBRK_HEAP_H

#include <stddef.h>

#include "base/larger.h"
#include "gpupool/engine.h"

#define HEAP_GRAIN     512 /* bytes: sizes of blocks are multiples */
/* Addresses that a heap reserves at most. */
#define HEAP_ADDRESSES (UINT64_C(1) << 47)

static inline uint64_t heap_round(uint64_t size)
{
	return gp_round_up(size, HEAP_GRAIN);
}

/* Sizes from one power of two to the next are so many classes. */
#define HEAP_PARTS   8
#define HEAP_CLASSES (64 * HEAP_PARTS)

struct heap_block {
	uint64_t addr, size;
	uint64_t largest;      /* of a tree: free block below it */
	uint32_t before, next; /* by address; 0: none */
	uint32_t links[2];     /* of a free one: the index's */
	uint32_t order;	       /* likewise */
	bool is_free;
};

struct heap;

/* Of free blocks, by their numbers; 0 is none. */
struct heap_index {
	void (*add)(struct heap *heap, uint32_t block);
	void (*drop)(struct heap *heap, uint32_t block);
	uint32_t (*find)(struct heap *heap, uint64_t size);
	uint64_t (*largest)(const struct heap *heap);
	/* A block that takes the place of another between the same neighbours,
	 * and one that takes in so much behind it.  NULL: dropped and added. */
	void (*replace)(struct heap *heap, uint32_t old, uint32_t block);
	void (*extend)(struct heap *heap, uint32_t block, uint64_t more);
};

/* Engines put theirs behind it. */
struct heap {
	const struct gp_memory *memory;
	const struct heap_index *index;
	uint64_t base, end, limit; /* of the memory, and of the addresses */
	struct heap_block *blocks; /* the first is none */
	size_t count, room;
	uint32_t spare, last; /* unused numbers; the block at the end */
	uint32_t root;	      /* of the tree by address */
	/* Of the trees by size, one for each class, and which there are. */
	uint32_t roots[HEAP_CLASSES];
	uint64_t classes[HEAP_CLASSES / 64];
};

/* As many as the device has, a power of two; 0: there are none. */
uint64_t heap_reserve(const struct gp_memory *memory, uint64_t *addr);

/* Zeroed, of that many bytes; NULL: there are no addresses. */
void *heap_create(const struct gp_memory *memory,
		  const struct heap_index *index, size_t bytes);
/* One without addresses, for heap_add_region. */
void *heap_create_empty(const struct gp_memory *memory,
			const struct heap_index *index, size_t bytes);
void heap_release(struct heap *heap);

/* 0: out of memory.  size is a multiple of HEAP_GRAIN. */
uint32_t heap_take(struct heap *heap, uint64_t size);
/* The same, at that address; 0, also where something lies there. */
uint32_t heap_take_at(struct heap *heap, uint64_t addr, uint64_t size);
/* Takes that free block; what it has beyond size stays free. */
void heap_cut(struct heap *heap, uint32_t block, uint64_t size);
void heap_give(struct heap *heap, uint32_t block);

/* A chain of its own, at first one free block; that block again, free and
 * whole, may be dropped. */
uint32_t heap_add_region(struct heap *heap, uint64_t addr, uint64_t size);
void heap_drop_region(struct heap *heap, uint32_t block);

/* Calls of an engine's table that need nothing else. */
void heap_destroy(void *self);
bool heap_alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece);
void heap_free(void *self, const struct gp_piece *piece);
void heap_trim(void *self);
uint64_t heap_largest_free(void *self);

extern const struct heap_index heap_by_address; /* the lowest that serves */
extern const struct heap_index heap_by_size;	/* the smallest, then lowest */
/* The free block that the address lies in; 0: there is none. */
uint32_t heap_find_at(const struct heap *heap, uint64_t addr);
/* The lowest from that address on that serves; 0: none. */
uint32_t heap_find_from(const struct heap *heap, uint64_t addr, uint64_t size);

#endif
