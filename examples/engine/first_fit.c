/* SPDX-License-Identifier: MIT */
/*
 * First fit: each request gets the lowest free range that is large enough, and
 * a freed range is joined with adjacent free ranges (Knuth, The Art of Computer
 * Programming 1, 2.5, algorithms A and B).
 *
 * The heap is one range of reserved addresses, with memory up to its end; it
 * grows by whole pages if no free range is large enough.
 */
#include <stdlib.h>

#include <gpupool/engine.h>

#define GRAIN	  512
#define ADDRESSES (UINT64_C(1) << 47)
#define UP(x, to) (((x) + (to)-1) / (to) * (to))

struct range {
	struct range *next;
	uint64_t addr, size;
};

struct heap {
	const struct gp_memory *memory;
	uint64_t end, limit; /* end of the memory, and of the addresses */
	struct range *free;  /* sorted by address */
};

static void *create(const struct gp_memory *memory)
{
	struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap || !memory->reserve(memory->device, ADDRESSES, &heap->end))
		return NULL;
	heap->memory = memory;
	heap->limit = heap->end + ADDRESSES;
	return heap;
}

static void remove_range(struct range **link)
{
	struct range *range = *link;

	*link = range->next;
	free(range);
}

/* Joins a range with the next one if they are adjacent. */
static void join(struct range *range)
{
	if (range->next && range->addr + range->size == range->next->addr) {
		range->size += range->next->size;
		remove_range(&range->next);
	}
}

static void give(struct heap *heap, uint64_t addr, uint64_t size)
{
	struct range *range = malloc(sizeof(*range)), *before = NULL;

	if (!range)
		abort();
	for (struct range *r = heap->free; r && r->addr < addr; r = r->next)
		before = r;
	*range = (struct range){ before ? before->next : heap->free, addr,
				 size };
	*(before ? &before->next : &heap->free) = range;
	join(range);
	if (before)
		join(before);
}

/* The link to the free range at the end of the heap, or to NULL. */
static struct range **last(struct heap *heap)
{
	struct range **link = &heap->free;

	while (*link && (*link)->addr + (*link)->size != heap->end)
		link = &(*link)->next;
	return link;
}

/* Maps memory at the end: what the free range there lacks. */
static bool grow(struct heap *heap, uint64_t size)
{
	const struct range *at_end = *last(heap);
	uint64_t more = UP(size - (at_end ? at_end->size : 0), GP_ENGINE_PAGE);

	if (more > heap->limit - heap->end ||
	    !heap->memory->map(heap->memory->device, heap->end, more))
		return false;
	heap->end += more;
	give(heap, heap->end - more, more);
	return true;
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct heap *heap = self;
	uint64_t size = UP(ask->size, GRAIN);
	struct range **link = &heap->free;

	if (size > ADDRESSES)
		return false;
	while (*link && (*link)->size < size)
		link = &(*link)->next;
	if (!*link)
		return grow(heap, size) && alloc(self, ask, piece);
	*piece = (struct gp_piece){ (*link)->addr, size, 0 };
	(*link)->addr += size;
	(*link)->size -= size;
	if (!(*link)->size)
		remove_range(link);
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
	give(self, piece->addr, piece->size);
}

/* Returns whole free pages at the end. */
static void trim(void *self)
{
	struct heap *heap = self;
	struct range **link = last(heap);
	uint64_t size = *link ? (*link)->size & ~(GP_ENGINE_PAGE - 1) : 0;

	if (!size)
		return;
	heap->end -= size;
	(*link)->size -= size;
	if (!(*link)->size)
		remove_range(link);
	heap->memory->unmap(heap->memory->device, heap->end, size);
}

static const struct gp_engine_table first_fit = {
	.version = GP_ENGINE_VERSION,
	.name = "first fit",
	.sentence = "the lowest free range that is long enough",
	.create = create,
	.alloc = alloc,
	.free = release,
	.trim = trim,
};

GP_ENGINE(first_fit)
