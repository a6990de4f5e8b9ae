/* SPDX-License-Identifier: MIT */
/*
 * A heap of regions, each one cudaMalloc: blocks are cut out of the smallest
 * free one that is large enough, the lowest of those of one size, and joined
 * with free neighbours in their region.
 */
#ifndef ALLOCATOR_TEXTBOOK_REGION_HEAP_H
#define ALLOCATOR_TEXTBOOK_REGION_HEAP_H

#include "allocator/textbook/sbrk_heap.h"

/* Its first block has the same number for as long as there is the region. */
struct region {
	uint64_t addr, size;
	uint32_t first;
};

/* Engines put theirs behind it. */
struct region_heap {
	struct heap heap; /* comes first */
	struct region *regions;
	size_t count, room;
	uint64_t held; /* bytes */
};

/* Zeroed, of that many bytes. */
void *regions_create(const struct gp_memory *memory, size_t bytes);
void regions_destroy(void *self);

/* The smallest free block of so many bytes; 0: none. */
uint32_t regions_find(struct region_heap *heap, uint64_t size);
/* Asks the device. */
bool regions_add(struct region_heap *heap, uint64_t size);
/* Bytes of regions without a block in use; those go back to the device. */
uint64_t regions_unused(const struct region_heap *heap);
void regions_trim(void *self);

struct gp_piece regions_piece(const struct region_heap *heap, uint32_t block);

#endif
