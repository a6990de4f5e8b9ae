/* SPDX-License-Identifier: MIT */
/* The linked list of a heap's blocks, and the memory that they are in. */
#include "allocator/textbook/sbrk_heap.h"

#include <stdlib.h>

#include "base/mem.h"

#define PAGE GP_ENGINE_PAGE

static struct heap_block *at(struct heap *heap, uint32_t block)
{
	return &heap->blocks[block];
}

uint64_t heap_reserve(const struct gp_memory *memory, uint64_t *addr)
{
	uint64_t size = HEAP_ADDRESSES;

	while (size >= PAGE && !memory->reserve(memory->device, size, addr))
		size /= 2;
	return size >= PAGE ? size : 0;
}

void heap_release(struct heap *heap)
{
	free(heap->blocks);
	free(heap);
}

void *heap_create_empty(const struct gp_memory *memory,
			const struct heap_index *index, size_t bytes)
{
	struct heap *heap = gp_mem_alloc(1, bytes);

	heap->memory = memory;
	heap->index = index;
	heap->count = 1;
	heap->blocks =
		gp_mem_grow(NULL, &heap->room, 64, sizeof(*heap->blocks));
	heap->blocks[0] = (struct heap_block){ 0 };
	return heap;
}

void *heap_create(const struct gp_memory *memory,
		  const struct heap_index *index, size_t bytes)
{
	struct heap *heap = heap_create_empty(memory, index, bytes);
	uint64_t addresses = heap_reserve(memory, &heap->base);

	if (!addresses) {
		heap_release(heap);
		return NULL;
	}
	heap->end = heap->base;
	heap->limit = heap->base + addresses;
	return heap;
}

void heap_destroy(void *self)
{
	heap_release(self);
}

/* ---- the list of blocks ---- */

static uint32_t new_block(struct heap *heap, uint64_t addr, uint64_t size)
{
	uint32_t block = heap->spare;

	if (block) {
		heap->spare = at(heap, block)->next;
	} else {
		GP_GROW(heap->blocks, heap->count + 1, heap->room);
		block = (uint32_t)heap->count++;
	}
	*at(heap, block) = (struct heap_block){ .addr = addr, .size = size };
	return block;
}

/* Links a block after another one, or at the beginning if that is 0. */
static void link_after(struct heap *heap, uint32_t block, uint32_t before)
{
	uint32_t next = before ? at(heap, before)->next : 0;

	at(heap, block)->before = before;
	at(heap, block)->next = next;
	if (before)
		at(heap, before)->next = block;
	if (next)
		at(heap, next)->before = block;
	else
		heap->last = block;
}

static void take_out(struct heap *heap, uint32_t block)
{
	uint32_t before = at(heap, block)->before, next = at(heap, block)->next;

	if (before)
		at(heap, before)->next = next;
	if (next)
		at(heap, next)->before = before;
	else
		heap->last = before;
	at(heap, block)->next = heap->spare;
	heap->spare = block;
}

static void make_free(struct heap *heap, uint32_t block)
{
	at(heap, block)->is_free = true;
	heap->index->add(heap, block);
}

static void make_used(struct heap *heap, uint32_t block)
{
	heap->index->drop(heap, block);
	at(heap, block)->is_free = false;
}

static void replace(struct heap *heap, uint32_t old, uint32_t block)
{
	at(heap, old)->is_free = false;
	at(heap, block)->is_free = true;
	if (heap->index->replace) {
		heap->index->replace(heap, old, block);
		return;
	}
	heap->index->drop(heap, old);
	heap->index->add(heap, block);
}

static void extend(struct heap *heap, uint32_t block, uint64_t more)
{
	if (heap->index->extend) {
		heap->index->extend(heap, block, more);
		return;
	}
	heap->index->drop(heap, block);
	at(heap, block)->size += more;
	heap->index->add(heap, block);
}

static bool is_free(struct heap *heap, uint32_t block)
{
	return block && at(heap, block)->is_free;
}

void heap_give(struct heap *heap, uint32_t block)
{
	uint32_t before = at(heap, block)->before, next = at(heap, block)->next;
	bool joins_next = is_free(heap, next);

	if (joins_next)
		at(heap, block)->size += at(heap, next)->size;
	if (is_free(heap, before)) {
		if (joins_next)
			make_used(heap, next);
		extend(heap, before, at(heap, block)->size);
		take_out(heap, block);
	} else if (joins_next) {
		replace(heap, next, block);
	} else {
		make_free(heap, block);
	}
	if (joins_next)
		take_out(heap, next);
}

/* ---- memory ---- */

/* Grows the heap until its last block is free and has that size. */
static bool grow(struct heap *heap, uint64_t size)
{
	uint32_t last = heap->last, block;
	uint64_t there =
		last && at(heap, last)->is_free ? at(heap, last)->size : 0;
	uint64_t more;

	/* An index with size classes may have overlooked it. */
	if (there >= size)
		return true;
	more = gp_round_up(size - there, PAGE);
	if (more > heap->limit - heap->end ||
	    !heap->memory->map(heap->memory->device, heap->end, more))
		return false;
	block = new_block(heap, heap->end, more);
	link_after(heap, block, last);
	heap->end += more;
	heap_give(heap, block);
	return true;
}

void heap_cut(struct heap *heap, uint32_t block, uint64_t size)
{
	uint64_t more = at(heap, block)->size - size;
	uint32_t rest;

	if (!more) {
		make_used(heap, block);
		return;
	}
	rest = new_block(heap, at(heap, block)->addr + size, more);
	link_after(heap, rest, block);
	replace(heap, block, rest);
	at(heap, block)->size = size;
}

uint32_t heap_take(struct heap *heap, uint64_t size)
{
	uint32_t block = heap->index->find(heap, size);

	if (!block) {
		if (!grow(heap, size))
			return 0;
		block = heap->last;
	}
	heap_cut(heap, block, size);
	return block;
}

/* Splits a free block at an address. */
static uint32_t split_at(struct heap *heap, uint32_t block, uint64_t addr)
{
	uint64_t before = addr - at(heap, block)->addr;
	uint32_t rest = new_block(heap, addr, at(heap, block)->size - before);

	link_after(heap, rest, block);
	make_used(heap, block);
	at(heap, block)->size = before;
	make_free(heap, block);
	make_free(heap, rest);
	return rest;
}

uint32_t heap_take_at(struct heap *heap, uint64_t addr, uint64_t size)
{
	uint32_t block, last = heap->last;
	uint64_t free_from = last && at(heap, last)->is_free
				     ? at(heap, last)->addr
				     : heap->end;

	if (addr + size > heap->end &&
	    (addr < free_from || !grow(heap, addr + size - free_from)))
		return 0;
	block = heap_find_at(heap, addr);
	if (!block ||
	    at(heap, block)->addr + at(heap, block)->size < addr + size)
		return 0;
	if (at(heap, block)->addr < addr)
		block = split_at(heap, block, addr);
	heap_cut(heap, block, size);
	return block;
}

uint32_t heap_add_region(struct heap *heap, uint64_t addr, uint64_t size)
{
	uint32_t block = new_block(heap, addr, size);

	make_free(heap, block);
	return block;
}

void heap_drop_region(struct heap *heap, uint32_t block)
{
	make_used(heap, block);
	take_out(heap, block);
}

void heap_trim(void *self)
{
	struct heap *heap = self;
	uint32_t last = heap->last;
	uint64_t size;

	if (!last || !at(heap, last)->is_free)
		return;
	size = at(heap, last)->size / PAGE * PAGE;
	if (!size)
		return;
	make_used(heap, last);
	at(heap, last)->size -= size;
	if (at(heap, last)->size)
		make_free(heap, last);
	else
		take_out(heap, last);
	heap->end -= size;
	heap->memory->unmap(heap->memory->device, heap->end, size);
}

/* ---- engine functions ---- */

bool heap_alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct heap *heap = self;
	uint32_t block = 0;

	if (ask->size <= HEAP_ADDRESSES)
		block = heap_take(heap, heap_round(ask->size));
	if (!block)
		return false;
	*piece = (struct gp_piece){ at(heap, block)->addr,
				    at(heap, block)->size, block };
	return true;
}

void heap_free(void *self, const struct gp_piece *piece)
{
	heap_give(self, (uint32_t)piece->handle);
}

uint64_t heap_largest_free(void *self)
{
	const struct heap *heap = self;

	return heap->index->largest(heap);
}
