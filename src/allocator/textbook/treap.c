/* SPDX-License-Identifier: MIT */
/*
 * Free blocks in a treap (Seidel, Aragon: Randomized Search Trees, 1996), by
 * address or by size; each knows the largest block below it, so that the lowest
 * one that is long enough is found on one way down.
 *
 * Priorities are a hash of addresses: trees are alike in every run.
 */
#include "allocator/textbook/sbrk_heap.h"
#include "base/map.h"

enum { LEFT, RIGHT };

static struct heap_block *at(const struct heap *heap, uint32_t block)
{
	return &heap->blocks[block];
}

static void measure(struct heap *heap, uint32_t block)
{
	struct heap_block *b = at(heap, block);

	b->largest = b->size;
	for (int side = LEFT; side <= RIGHT; side++)
		if (at(heap, b->links[side])->largest > b->largest)
			b->largest = at(heap, b->links[side])->largest;
}

typedef bool (*is_before)(const struct heap_block *a,
			  const struct heap_block *b);

static bool by_address(const struct heap_block *a, const struct heap_block *b)
{
	return a->addr < b->addr;
}

static bool by_size(const struct heap_block *a, const struct heap_block *b)
{
	return a->size != b->size ? a->size < b->size : a->addr < b->addr;
}

/* Into what is before the block, and the rest. */
static void split(struct heap *heap, uint32_t tree, uint32_t block,
		  is_before before, uint32_t parts[2])
{
	int side;

	if (!tree) {
		parts[LEFT] = parts[RIGHT] = 0;
		return;
	}
	side = before(at(heap, tree), at(heap, block)) ? RIGHT : LEFT;
	split(heap, at(heap, tree)->links[side], block, before, parts);
	at(heap, tree)->links[side] = parts[!side];
	measure(heap, tree);
	parts[!side] = tree;
}

static uint32_t insert(struct heap *heap, uint32_t tree, uint32_t block,
		       is_before before)
{
	struct heap_block *b = at(heap, block), *t = at(heap, tree);

	if (!tree || b->order > t->order) {
		split(heap, tree, block, before, b->links);
		measure(heap, block);
		return block;
	}
	t->links[!before(b, t)] =
		insert(heap, t->links[!before(b, t)], block, before);
	measure(heap, tree);
	return tree;
}

/* All of left is before all of right. */
static uint32_t merge(struct heap *heap, uint32_t left, uint32_t right)
{
	if (!left || !right)
		return left ? left : right;
	if (at(heap, left)->order > at(heap, right)->order) {
		at(heap, left)->links[RIGHT] =
			merge(heap, at(heap, left)->links[RIGHT], right);
		measure(heap, left);
		return left;
	}
	at(heap, right)->links[LEFT] =
		merge(heap, left, at(heap, right)->links[LEFT]);
	measure(heap, right);
	return right;
}

static uint32_t erase(struct heap *heap, uint32_t tree, uint32_t block,
		      is_before before)
{
	struct heap_block *t = at(heap, tree);
	int side;

	if (tree == block)
		return merge(heap, t->links[LEFT], t->links[RIGHT]);
	side = before(at(heap, block), t) ? LEFT : RIGHT;
	t->links[side] = erase(heap, t->links[side], block, before);
	measure(heap, tree);
	return tree;
}

static void add(struct heap *heap, uint32_t block, is_before before)
{
	struct heap_block *b = at(heap, block);

	b->order = (uint32_t)gp_hash64(b->addr);
	heap->root = insert(heap, heap->root, block, before);
}

static uint64_t largest(const struct heap *heap)
{
	return at(heap, heap->root)->largest;
}

/* ---- by address ---- */

static void add_by_address(struct heap *heap, uint32_t block)
{
	add(heap, block, by_address);
}

static void drop_by_address(struct heap *heap, uint32_t block)
{
	heap->root = erase(heap, heap->root, block, by_address);
}

static uint32_t leftmost(const struct heap *heap, uint32_t tree, uint64_t size)
{
	while (tree) {
		const struct heap_block *t = at(heap, tree);

		if (at(heap, t->links[LEFT])->largest >= size)
			tree = t->links[LEFT];
		else if (t->size >= size)
			return tree;
		else
			tree = t->links[RIGHT];
	}
	return 0;
}

static uint32_t find_lowest(struct heap *heap, uint64_t size)
{
	return largest(heap) >= size ? leftmost(heap, heap->root, size) : 0;
}

/* On the way down to addr, the last block that is passed on its left, or the
 * tree to the right of it, is the next one up. */
uint32_t heap_find_from(const struct heap *heap, uint64_t addr, uint64_t size)
{
	uint32_t tree = heap->root, found = 0;

	while (tree && at(heap, tree)->largest >= size) {
		const struct heap_block *t = at(heap, tree);

		if (t->addr < addr) {
			tree = t->links[RIGHT];
			continue;
		}
		if (t->size >= size)
			found = tree;
		else if (at(heap, t->links[RIGHT])->largest >= size)
			found = leftmost(heap, t->links[RIGHT], size);
		tree = t->links[LEFT];
	}
	return found;
}

const struct heap_index heap_by_address = { add_by_address, drop_by_address,
					    find_lowest, largest };

/* ---- by size ---- */

static void add_by_size(struct heap *heap, uint32_t block)
{
	add(heap, block, by_size);
}

static void drop_by_size(struct heap *heap, uint32_t block)
{
	heap->root = erase(heap, heap->root, block, by_size);
}

static uint32_t find_smallest(struct heap *heap, uint64_t size)
{
	uint32_t tree = heap->root, found = 0;

	while (tree) {
		bool serves = at(heap, tree)->size >= size;

		if (serves)
			found = tree;
		tree = at(heap, tree)->links[serves ? LEFT : RIGHT];
	}
	return found;
}

const struct heap_index heap_by_size = { add_by_size, drop_by_size,
					 find_smallest, largest };
