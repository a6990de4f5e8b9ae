/* SPDX-License-Identifier: MIT */
/*
 * Stitching: C. Guo et al., GMLake: Efficient and Transparent GPU Memory
 * Defragmentation for Large-scale DNN Training with Virtual Memory Stitching,
 * 2024. Memory consists of pages of 2 MiB. A request of at least one page is
 * served by a free range of exactly as many pages; else by the front of the
 * shortest longer range; else by the pages of several ranges, longest first,
 * mapped one after the other, together with new pages if these do not suffice.
 * Smaller requests share a first-fit heap.
 *
 * GMLake also keeps pages mapped at their former place, so that a range that is
 * needed again takes no call; here pages move, which takes an unmap per page.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/textbook/sbrk_heap.h"
#include "allocator/textbook/textbook.h"
#include "base/mem.h"
#include "base/sorted.h"

#define PAGE GP_ENGINE_PAGE

struct range {
	uint64_t addr, pages;
};

struct stitch {
	const struct gp_memory *memory;
	struct heap *small; /* NULL: no small request so far */
	struct range *free; /* shortest first */
	size_t count, room;
};

static void *create(const struct gp_memory *memory)
{
	struct stitch *s = gp_mem_alloc(1, sizeof(*s));

	s->memory = memory;
	return s;
}

static void destroy(void *self)
{
	struct stitch *s = self;

	if (s->small)
		heap_release(s->small);
	free(s->free);
	free(s);
}

/* The first range of at least that many pages, or count. */
static size_t find(const struct stitch *s, uint64_t pages)
{
	return gp_sorted_from(GP_SORTED(s->free, s->count, struct range, pages),
			      pages);
}

static void add(struct stitch *s, struct range range)
{
	size_t at = find(s, range.pages);

	GP_INSERT(s->free, s->count, s->room, at);
	s->free[at] = range;
}

static struct range take(struct stitch *s, size_t at)
{
	struct range range = s->free[at];

	GP_REMOVE(s->free, s->count, at);
	return range;
}

/* Unmaps free ranges, longest first, until that many pages are available. */
static void unmap_longest(struct stitch *s, uint64_t pages)
{
	const struct gp_memory *memory = s->memory;

	while (pages && s->count) {
		struct range last = take(s, s->count - 1);
		uint64_t used = last.pages < pages ? last.pages : pages;

		memory->unmap(memory->device, last.addr, used * PAGE);
		pages -= used;
		if (used < last.pages)
			add(s, (struct range){ last.addr + used * PAGE,
					       last.pages - used });
	}
}

static bool alloc_small(struct stitch *s, const struct gp_ask *ask,
			struct gp_piece *piece)
{
	if (!s->small)
		s->small = heap_create(s->memory, &heap_by_address,
				       sizeof(*s->small));
	return s->small && heap_alloc(s->small, ask, piece);
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct stitch *s = self;
	const struct gp_memory *memory = s->memory;
	uint64_t pages = ask->size / PAGE + (ask->size % PAGE != 0), addr;
	size_t at = find(s, pages);

	if (ask->size < PAGE)
		return alloc_small(s, ask, piece);
	if (pages > HEAP_ADDRESSES / PAGE)
		return false;
	if (at < s->count) {
		struct range found = take(s, at);

		addr = found.addr;
		if (found.pages > pages)
			add(s, (struct range){ addr + pages * PAGE,
					       found.pages - pages });
	} else {
		unmap_longest(s, pages);
		if (!memory->reserve(memory->device, pages * PAGE, &addr) ||
		    !memory->map(memory->device, addr, pages * PAGE))
			return false;
	}
	*piece = (struct gp_piece){ addr, pages * PAGE, 0 };
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
	struct stitch *s = self;

	if (piece->handle)
		heap_free(s->small, piece);
	else
		add(s, (struct range){ piece->addr, piece->size / PAGE });
}

static void trim(void *self)
{
	struct stitch *s = self;

	unmap_longest(s, UINT64_MAX);
	if (s->small)
		heap_trim(s->small);
}

/* All free pages, because they can be mapped together. */
static uint64_t largest_free(void *self)
{
	const struct stitch *s = self;
	uint64_t pages = 0, small = s->small ? heap_largest_free(s->small) : 0;

	for (size_t i = 0; i < s->count; i++)
		pages += s->free[i].pages;
	return pages * PAGE > small ? pages * PAGE : small;
}

const struct gp_engine_table textbook_stitch = {
	.version = GP_ENGINE_VERSION,
	.name = "stitch",
	.create = create,
	.destroy = destroy,
	.alloc = alloc,
	.free = release,
	.trim = trim,
	.largest_free = largest_free,
};
