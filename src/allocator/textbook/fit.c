/* SPDX-License-Identifier: MIT */
/*
 * First fit, best fit and next fit: Knuth, The Art of Computer Programming 1,
 * 2.5, algorithm A and its exercises. Sizes are multiples of 512 bytes, like
 * PyTorch's; there are no size classes and no separate pool for small blocks.
 */
#include "allocator/textbook/textbook.h"

#include "allocator/textbook/sbrk_heap.h"

static void *create_first(const struct gp_memory *memory)
{
	return heap_create(memory, &heap_by_address, sizeof(struct heap));
}

static void *create_best(const struct gp_memory *memory)
{
	return heap_create(memory, &heap_by_size, sizeof(struct heap));
}

/* ---- next fit: the search starts where the last one ended, and wraps ---- */

struct next_fit {
	struct heap heap; /* must be first */
	struct heap_index index;
	uint64_t rover;
};

static uint32_t find_next(struct heap *heap, uint64_t size)
{
	const struct next_fit *n = (const struct next_fit *)heap;
	uint32_t block = heap_find_from(heap, n->rover, size);

	return block ? block : heap_by_address.find(heap, size);
}

static void *create_next(const struct gp_memory *memory)
{
	struct next_fit *n = heap_create(memory, &heap_by_address, sizeof(*n));

	if (!n)
		return NULL;
	n->index = heap_by_address;
	n->index.find = find_next;
	n->heap.index = &n->index;
	n->rover = n->heap.base;
	return n;
}

static bool alloc_next(void *self, const struct gp_ask *ask,
		       struct gp_piece *piece)
{
	struct next_fit *n = self;

	if (!heap_alloc(self, ask, piece))
		return false;
	n->rover = piece->addr + piece->size;
	return true;
}

#define FIT(table, called, create_it, alloc_it)                                \
	const struct gp_engine_table table = {                                 \
		.version = GP_ENGINE_VERSION,                                  \
		.name = called,                                                \
		.create = create_it,                                           \
		.destroy = heap_destroy,                                       \
		.alloc = alloc_it,                                             \
		.free = heap_free,                                             \
		.trim = heap_trim,                                             \
		.largest_free = heap_largest_free,                             \
	}

FIT(textbook_first_fit, "first-fit", create_first, heap_alloc);
FIT(textbook_best_fit, "best-fit", create_best, heap_alloc);
FIT(textbook_next_fit, "next-fit", create_next, alloc_next);
