/* SPDX-License-Identifier: MIT */
/*
 * An offline plan: each block has its place from the start, by a packing of the
 * lifetimes of the same trace.  So does STAlloc (Z. Huang et al.: STAlloc:
 * Enhancing Memory Efficiency in Large-Scale Model Training with
 * Spatio-Temporal Planning, 2025), which plans from one step of training that
 * it profiled; and so do idealloc and minimalloc, for programs that are known.
 *
 * What the plan does not know is served first fit, in its gaps and behind it;
 * or (rest=idle) at the lowest place that the plan leaves idle for as long as
 * the block lives.  STAlloc has that for requests whose sizes change from step
 * to step: it groups them by the layers in which they are asked for and given
 * back, and looks for what is idle between these, else asks PyTorch's cache.  A
 * group lives longer than each of its blocks, so that its groups leave no less.
 *
 * Each stream and pool has a plan of its own, as a block that is freed serves
 * its own stream.  A block that finds its place taken, by one that waits for
 * other streams or that nobody foresaw, is served as if it had none.
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
