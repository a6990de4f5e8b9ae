/* SPDX-License-Identifier: MIT */
/*
 * An offline plan: each block has a place from the start, computed by packing
 * the lifetimes of the same trace. STAlloc works like this (Z. Huang et al.:
 * STAlloc: Enhancing Memory Efficiency in Large-Scale Model Training with
 * Spatio-Temporal Planning, 2025), with a plan from one profiled training step;
 * and so do idealloc and minimalloc, for programs that are known in advance.
 *
 * Blocks that are not in the plan are placed first fit, in its gaps and after
 * it; or, with rest=idle, at the lowest place that the plan leaves idle for the
 * lifetime of the block. STAlloc does the latter for requests whose sizes
 * change from step to step: it groups them by the layers in which they are
 * allocated and freed, and looks for memory that is idle in between, or else
 * uses PyTorch's cache. A group lives longer than each of its blocks, so
 * STAlloc needs no less memory than this engine.
 *
 * Each stream and pool has a plan of its own, because a freed block only serves
 * its own stream. A block whose place is taken, by one whose free is pending or
 * that is not in the plan, is placed as if it had no planned place.
 */
#include "allocator/keeper.h"
#include "allocator/textbook/sbrk_heap.h"
#include "allocator/textbook/textbook.h"

static void *create(const struct gp_memory *memory)
{
	return heap_create(memory, &heap_by_address, sizeof(struct heap));
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct heap *heap = self;
	uint64_t place = keeper_planned(heap->memory, (uint32_t)ask->id);
	uint32_t block = 0;

	if (place != GP_NO_PLACE && ask->size <= HEAP_ADDRESSES)
		block = heap_take_at(heap, heap->base + place,
				     heap_round(ask->size));
	if (!block)
		return heap_alloc(self, ask, piece);
	*piece = (struct gp_piece){ heap->base + place,
				    heap->blocks[block].size, block };
	return true;
}

const struct gp_engine_table textbook_plan = {
	.version = GP_ENGINE_VERSION,
	.name = "plan",
	.create = create,
	.destroy = heap_destroy,
	.alloc = alloc,
	.free = heap_free,
	.trim = heap_trim,
	.largest_free = heap_largest_free,
};
