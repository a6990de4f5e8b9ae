/* SPDX-License-Identifier: MIT */
/* Regions, and their release to the device. */
#include "allocator/textbook/region_heap.h"

#include <stdlib.h>

#include "base/mem.h"

void *regions_create(const struct gp_memory *memory, size_t bytes)
{
	return heap_create_empty(memory, &heap_by_size, bytes);
}

void regions_destroy(void *self)
{
	struct region_heap *r = self;

	free(r->regions);
	heap_release(&r->heap);
}

uint32_t regions_find(struct region_heap *r, uint64_t size)
{
	return heap_by_size.find(&r->heap, size);
}

bool regions_add(struct region_heap *r, uint64_t size)
{
	const struct gp_memory *memory = r->heap.memory;
	uint64_t addr;

	if (!memory->malloc(memory->device, size, &addr))
		return false;
	GP_GROW(r->regions, r->count + 1, r->room);
	r->regions[r->count++] =
		(struct region){ addr, size,
				 heap_add_region(&r->heap, addr, size) };
	r->held += size;
	return true;
}

static bool is_unused(const struct region_heap *r, const struct region *region)
{
	const struct heap_block *first = &r->heap.blocks[region->first];

	return first->is_free && first->size == region->size;
}

uint64_t regions_unused(const struct region_heap *r)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->count; i++)
		if (is_unused(r, &r->regions[i]))
			bytes += r->regions[i].size;
	return bytes;
}

void regions_trim(void *self)
{
	struct region_heap *r = self;
	const struct gp_memory *memory = r->heap.memory;
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct region region = r->regions[i];

		if (!is_unused(r, &region)) {
			r->regions[kept++] = region;
			continue;
		}
		heap_drop_region(&r->heap, region.first);
		memory->free(memory->device, region.addr);
		r->held -= region.size;
	}
	r->count = kept;
}

struct gp_piece regions_piece(const struct region_heap *r, uint32_t block)
{
	const struct heap_block *b = &r->heap.blocks[block];

	return (struct gp_piece){ b->addr, b->size, block };
}
