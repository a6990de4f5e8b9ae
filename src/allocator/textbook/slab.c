/* SPDX-License-Identifier: MIT */
/*
 * Slabs by size class: Bonwick, The Slab Allocator, 1994, with size classes in
 * place of object types, four per power of two as in jemalloc. A slab is
 * divided into objects of one class; an empty slab is released. Slabs, and
 * blocks larger than every class, are allocated first fit from a common heap.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/textbook/sbrk_heap.h"
#include "allocator/textbook/textbook.h"
#include "base/mem.h"

#define CLASSES	     41 /* 512 bytes to 1 MiB */
#define LARGEST	     (UINT64_C(1) << 20)
#define SLAB	     (UINT64_C(2) << 20) /* bytes */
#define MOST_OBJECTS (SLAB / HEAP_GRAIN)
#define WORDS	     (MOST_OBJECTS / 64)

struct slab {
	uint32_t block; /* block of the heap; 0: unused number */
	/* Neighbours in the list of slabs of its class that have a free object;
	 * 0: none. */
	uint32_t before, next;
	uint32_t used, objects;
	uint32_t class;
	uint64_t free[WORDS]; /* bitmap */
};

struct slabs {
	struct heap heap;   /* must be first */
	struct slab *slabs; /* index 0 is not used */
	size_t count, room;
	uint32_t spare, first[CLASSES];
};

/* One class per multiple of the grain up to 4 of them, then four per power of
 * two. */
static uint32_t class_of(uint64_t size)
{
	uint64_t units = heap_round(size) / HEAP_GRAIN - 1;
	unsigned power;

	if (units < 4)
		return (uint32_t)units;
	power = 63U - (unsigned)__builtin_clzll(units) - 2;
	return (power + 1) * 4 + (uint32_t)(units >> power) - 4;
}

static uint64_t size_of(uint32_t class)
{
	if (class < 4)
		return (class + 1) * (uint64_t)HEAP_GRAIN;
	return ((uint64_t)(class % 4 + 5) << (class / 4 - 1)) * HEAP_GRAIN;
}

static void *create(const struct gp_memory *memory)
{
	struct slabs *s = heap_create(memory, &heap_by_address, sizeof(*s));

	if (!s)
		return NULL;
	s->slabs = gp_mem_grow(NULL, &s->room, 16, sizeof(*s->slabs));
	s->count = 1;
	return s;
}

static void destroy(void *self)
{
	struct slabs *s = self;

	free(s->slabs);
	heap_release(&s->heap);
}

/* ---- lists of slabs that have a free object ---- */

static void list(struct slabs *s, uint32_t slab)
{
	uint32_t *first = &s->first[s->slabs[slab].class];

	s->slabs[slab].before = 0;
	s->slabs[slab].next = *first;
	if (*first)
		s->slabs[*first].before = slab;
	*first = slab;
}

static void unlist(struct slabs *s, uint32_t slab)
{
	const struct slab *one = &s->slabs[slab];

	if (one->next)
		s->slabs[one->next].before = one->before;
	if (one->before)
		s->slabs[one->before].next = one->next;
	else
		s->first[one->class] = one->next;
}

/* Creates a slab; 0: out of memory. */
static uint32_t new_slab(struct slabs *s, uint32_t class)
{
	uint32_t block = heap_take(&s->heap, SLAB), slab = s->spare;
	struct slab *one;

	if (!block)
		return 0;
	if (slab) {
		s->spare = s->slabs[slab].next;
	} else {
		GP_GROW(s->slabs, s->count + 1, s->room);
		slab = (uint32_t)s->count++;
	}
	one = &s->slabs[slab];
	*one = (struct slab){ .block = block,
			      .class = class,
			      .objects = (uint32_t)(SLAB / size_of(class)) };
	for (uint32_t i = 0; i < one->objects; i++)
		one->free[i / 64] |= UINT64_C(1) << i % 64;
	list(s, slab);
	return slab;
}

/* ---- objects ---- */

static uint32_t first_free(const struct slab *slab)
{
	uint32_t word = 0;

	while (!slab->free[word])
		word++;
	return word * 64 + (uint32_t)__builtin_ctzll(slab->free[word]);
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct slabs *s = self;
	uint32_t class, slab, object;
	struct slab *one;

	if (ask->size > LARGEST)
		return heap_alloc(self, ask, piece);
	class = class_of(ask->size);
	slab = s->first[class];
	if (!slab)
		slab = new_slab(s, class);
	if (!slab)
		return false;
	one = &s->slabs[slab];
	object = first_free(one);
	one->free[object / 64] &= ~(UINT64_C(1) << object % 64);
	if (++one->used == one->objects)
		unlist(s, slab);
	*piece = (struct gp_piece){ s->heap.blocks[one->block].addr +
					    object * size_of(class),
				    size_of(class), slab };
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
	struct slabs *s = self;
	uint32_t slab = (uint32_t)piece->handle, object;
	struct slab *one;

	if (piece->size > LARGEST) {
		heap_free(self, piece);
		return;
	}
	one = &s->slabs[slab];
	object = (uint32_t)((piece->addr - s->heap.blocks[one->block].addr) /
			    piece->size);
	one->free[object / 64] |= UINT64_C(1) << object % 64;
	if (one->used-- == one->objects)
		list(s, slab);
	if (one->used)
		return;
	unlist(s, slab);
	heap_give(&s->heap, one->block);
	one->next = s->spare;
	s->spare = slab;
}

static uint64_t largest_free(void *self)
{
	const struct slabs *s = self;
	uint64_t largest = heap_largest_free(self);

	for (uint32_t class = CLASSES;
	     class -- > 0 && largest < size_of(class);)
		if (s->first[class])
			largest = size_of(class);
	return largest;
}

const struct gp_engine_table textbook_slab = {
	.version = GP_ENGINE_VERSION,
	.name = "slab",
	.create = create,
	.destroy = destroy,
	.alloc = alloc,
	.free = release,
	.trim = heap_trim,
	.largest_free = largest_free,
};
