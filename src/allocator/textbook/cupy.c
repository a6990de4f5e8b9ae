/* SPDX-License-Identifier: MIT */
/*
 * CuPy's pool: cupy/cuda/memory.pyx of 14.2, class SingleDeviceMemoryPool.
 * malloc() rounds up to 512 bytes (_round_size), takes a chunk of the smallest
 * sufficient size on the stream, however large, and splits it
 * (_Arena.get_chunk); otherwise it requests exactly that size from cudaMalloc
 * (_try_malloc). free() merges neighbours; free_all_blocks() releases whole
 * chunks, and is called when cudaMalloc is out of memory.
 *
 * Of several chunks of one size CuPy takes the one whose Python object has the
 * lowest address, which is arbitrary; here it is the lowest chunk. Otherwise it
 * behaves as the wheel does: tests/cli/cupy_pool.py.
 */
#include "allocator/textbook/region_heap.h"
#include "allocator/textbook/textbook.h"

static void *create(const struct gp_memory *memory)
{
	return regions_create(memory, sizeof(struct region_heap));
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct region_heap *r = self;
	uint64_t size = heap_round(ask->size);
	uint32_t block;

	if (ask->size > HEAP_ADDRESSES)
		return false;
	block = regions_find(r, size);
	if (!block && regions_add(r, size))
		block = regions_find(r, size);
	if (!block)
		return false;
	heap_cut(&r->heap, block, size);
	*piece = regions_piece(r, block);
	return true;
}

const struct gp_engine_table textbook_cupy = {
	.version = GP_ENGINE_VERSION,
	.name = "cupy",
	.create = create,
	.destroy = regions_destroy,
	.alloc = alloc,
	.free = heap_free,
	.trim = regions_trim,
	.largest_free = heap_largest_free,
};
