/* SPDX-License-Identifier: MIT */
/*
 * A heap of regions, each from one cudaMalloc: best fit, with the lowest
 * address among equal blocks. Blocks are split, and merged with free neighbours
 * in their region.
 */
#ifndef ALLOCATOR_TEXTBOOK_REGION_HEAP_H
#define ALLOCATOR_TEXTBOOK_REGION_HEAP_H

#include "allocator/textbook/sbrk_heap.h"

/* The first block of a region keeps its number as long as the region exists. */
struct region {
	uint64_t addr, size;
	uint32_t first;
};

/* Engines extend this struct. */
struct region_heap {
	struct heap heap; /* must be first */
	struct region *regions;
	size_t count, room;
	uint64_t held; /* bytes */
};

/* Creates an engine's struct of that many bytes, zeroed apart from the heap. */
void *regions_create(const struct gp_memory *memory, size_t bytes);
void regions_destroy(void *self);

/* The smallest free block of at least that size; 0: none. */
uint32_t regions_find(struct region_heap *heap, uint64_t size);
/* Obtains a region from the device. */
bool regions_add(struct region_heap *heap, uint64_t size);
/* The bytes of regions without a block in use; and their release to the
 * device. */
uint64_t regions_unused(const struct region_heap *heap);
void regions_trim(void *self);

struct gp_piece regions_piece(const struct region_heap *heap, uint32_t block);

#endif
