/* SPDX-License-Identifier: MIT */
/*
 * TLSF: M. Masmano, I. Ripoll, A. Crespo, J. Real: TLSF: a New Dynamic Memory
 * Allocator for Real-Time Systems, 2004. Segregated free lists: each power of
 * two has 32 of them. A request is rounded up to the next list, any block of
 * which is large enough, and takes the first block of the first non-empty list
 * from there: good fit in constant time.
 */
#include "allocator/textbook/textbook.h"

#include "allocator/textbook/sbrk_heap.h"

#define PART_BITS 5
#define PARTS	  (1 << PART_BITS)
#define POWERS	  48

enum { BEFORE, NEXT };

struct tlsf {
	struct heap heap; /* must be first */
	uint64_t powers;  /* bitmap of powers that have a block */
	uint32_t parts[POWERS];
	uint32_t first[POWERS][PARTS];
};

struct class
{
	unsigned power, part;
};

static unsigned power_of(uint64_t size)
{
	return 63U - (unsigned)__builtin_clzll(size);
}

/* The list of a size, in units of HEAP_GRAIN; each of the first lists has a
 * single size. */
static struct class class_of(uint64_t size)
{
	uint64_t units = size / HEAP_GRAIN;
	unsigned power;

	if (units < PARTS)
		return (struct class){ 0, (unsigned)units };
	power = power_of(units) - PART_BITS;
	return (struct class){ power + 1, (unsigned)(units >> power) - PARTS };
}

/* The first list in which every block is large enough. */
static struct class class_for(uint64_t size)
{
	uint64_t units = size / HEAP_GRAIN;

	if (units >= PARTS)
		size += ((UINT64_C(1) << (power_of(units) - PART_BITS)) - 1) *
			HEAP_GRAIN;
	return class_of(size);
}

static void add(struct heap *heap, uint32_t block)
{
	struct tlsf *t = (struct tlsf *)heap;
	struct class c = class_of(heap->blocks[block].size);
	uint32_t *first = &t->first[c.power][c.part];

	heap->blocks[block].links[BEFORE] = 0;
	heap->blocks[block].links[NEXT] = *first;
	if (*first)
		heap->blocks[*first].links[BEFORE] = block;
	*first = block;
	t->parts[c.power] |= 1U << c.part;
	t->powers |= UINT64_C(1) << c.power;
}

static void drop(struct heap *heap, uint32_t block)
{
	struct tlsf *t = (struct tlsf *)heap;
	struct class c = class_of(heap->blocks[block].size);
	uint32_t before = heap->blocks[block].links[BEFORE];
	uint32_t next = heap->blocks[block].links[NEXT];

	if (next)
		heap->blocks[next].links[BEFORE] = before;
	if (before) {
		heap->blocks[before].links[NEXT] = next;
		return;
	}
	t->first[c.power][c.part] = next;
	if (next)
		return;
	t->parts[c.power] &= ~(1U << c.part);
	if (!t->parts[c.power])
		t->powers &= ~(UINT64_C(1) << c.power);
}

static uint32_t find(struct heap *heap, uint64_t size)
{
	const struct tlsf *t = (const struct tlsf *)heap;
	struct class c = class_for(size);
	uint32_t parts = t->parts[c.power] & (UINT32_MAX << c.part);
	uint64_t powers = t->powers & (UINT64_MAX << c.power << 1);

	if (!parts && !powers)
		return 0;
	if (!parts) {
		c.power = (unsigned)__builtin_ctzll(powers);
		parts = t->parts[c.power];
	}
	return t->first[c.power][__builtin_ctz(parts)];
}

/* The largest block of the last list. */
static uint64_t largest(const struct heap *heap)
{
	const struct tlsf *t = (const struct tlsf *)heap;
	uint64_t size = 0;
	unsigned power;

	if (!t->powers)
		return 0;
	power = power_of(t->powers);
	for (uint32_t b = t->first[power][power_of(t->parts[power])]; b;
	     b = heap->blocks[b].links[NEXT])
		if (heap->blocks[b].size > size)
			size = heap->blocks[b].size;
	return size;
}

static const struct heap_index by_class = {
	.add = add,
	.drop = drop,
	.find = find,
	.largest = largest,
};

static void *create(const struct gp_memory *memory)
{
	return heap_create(memory, &by_class, sizeof(struct tlsf));
}

const struct gp_engine_table textbook_tlsf = {
	.version = GP_ENGINE_VERSION,
	.name = "tlsf",
	.create = create,
	.destroy = heap_destroy,
	.alloc = heap_alloc,
	.free = heap_free,
	.trim = heap_trim,
	.largest_free = heap_largest_free,
};
