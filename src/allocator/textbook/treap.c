/* SPDX-License-Identifier: MIT */
/*
 * Free blocks in a treap (Seidel, Aragon: Randomized Search Trees, 1996), by
 * address or by size. Each node has the size of the largest block in its
 * subtree, so that the lowest block that is large enough is found in one
 * descent.
 *
 * Priorities are a hash of addresses, so trees are the same in every run.
 */
#include "allocator/textbook/sbrk_heap.h"
#include "base/map.h"

enum { LEFT, RIGHT };

static inline struct heap_block *at(const struct heap *heap, uint32_t block)
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

/* A tree by size needs no subtree maximum: its largest block is the last
 * one. */
enum order { BY_ADDRESS, BY_SIZE };

static inline bool is_before(enum order order, const struct heap_block *a,
			     const struct heap_block *b)
{
	return order == BY_SIZE && a->size != b->size ? a->size < b->size
						      : a->addr < b->addr;
}

/* Splits a tree into the nodes before the block and the others. */
static void split(struct heap *heap, uint32_t tree, uint32_t block,
		  enum order order, uint32_t parts[2])
{
	int side;

	if (!tree) {
		parts[LEFT] = parts[RIGHT] = 0;
		return;
	}
	side = is_before(order, at(heap, tree), at(heap, block)) ? RIGHT : LEFT;
	split(heap, at(heap, tree)->links[side], block, order, parts);
	at(heap, tree)->links[side] = parts[!side];
	if (order == BY_ADDRESS)
		measure(heap, tree);
	parts[!side] = tree;
}

/* link points to the root. */
static void insert(struct heap *heap, uint32_t *link, uint32_t block,
		   enum order order)
{
	struct heap_block *b = at(heap, block);

	b->order = (uint32_t)gp_hash64(b->addr);
	while (*link && at(heap, *link)->order >= b->order) {
		struct heap_block *t = at(heap, *link);

		if (t->largest < b->size)
			t->largest = b->size;
		link = &t->links[!is_before(order, b, t)];
	}
	split(heap, *link, block, order, b->links);
	*link = block;
	if (order == BY_ADDRESS)
		measure(heap, block);
}

/* Merges two trees; all of `left` is before all of `right`. */
static uint32_t merge(struct heap *heap, uint32_t left, uint32_t right,
		      enum order order)
{
	bool is_left;
	uint32_t top;

	if (!left || !right)
		return left ? left : right;
	is_left = at(heap, left)->order > at(heap, right)->order;
	top = is_left ? left : right;
	if (is_left)
		at(heap, top)->links[RIGHT] =
			merge(heap, at(heap, top)->links[RIGHT], right, order);
	else
		at(heap, top)->links[LEFT] =
			merge(heap, left, at(heap, top)->links[LEFT], order);
	if (order == BY_ADDRESS)
		measure(heap, top);
	return top;
}

static uint32_t erase(struct heap *heap, uint32_t tree, uint32_t block,
		      enum order order)
{
	struct heap_block *t = at(heap, tree), *b = at(heap, block);
	int side;

	if (tree == block)
		return merge(heap, t->links[LEFT], t->links[RIGHT], order);
	side = is_before(order, b, t) ? LEFT : RIGHT;
	t->links[side] = erase(heap, t->links[side], block, order);
	if (order == BY_ADDRESS && t->largest == b->size)
		measure(heap, tree);
	return tree;
}

/* ---- by address ---- */

static void add_by_address(struct heap *heap, uint32_t block)
{
	insert(heap, &heap->root, block, BY_ADDRESS);
}

static void drop_by_address(struct heap *heap, uint32_t block)
{
	heap->root = erase(heap, heap->root, block, BY_ADDRESS);
}

/* Updates the subtree maxima on the path to a block whose size was `was` and
 * whose own value is up to date. */
static void shrink(struct heap *heap, uint32_t tree, uint32_t block,
		   uint64_t was)
{
	struct heap_block *t = at(heap, tree);

	if (tree == block)
		return;
	shrink(heap, t->links[t->addr < at(heap, block)->addr], block, was);
	if (t->largest == was)
		measure(heap, tree);
}

/* The new block takes over the old one's place in the tree. */
static void replace_by_address(struct heap *heap, uint32_t old, uint32_t block)
{
	struct heap_block *o = at(heap, old), *b = at(heap, block);
	uint32_t *link = &heap->root;

	while (*link != old) {
		struct heap_block *t = at(heap, *link);

		if (t->largest < b->size)
			t->largest = b->size;
		link = &t->links[t->addr < o->addr];
	}
	*link = block;
	b->links[LEFT] = o->links[LEFT];
	b->links[RIGHT] = o->links[RIGHT];
	b->order = o->order;
	measure(heap, block);
	if (b->size < o->size)
		shrink(heap, heap->root, block, o->size);
}

static void extend_by_address(struct heap *heap, uint32_t block, uint64_t more)
{
	struct heap_block *b = at(heap, block);
	uint32_t tree = heap->root;

	b->size += more;
	for (;;) {
		struct heap_block *t = at(heap, tree);

		if (t->largest < b->size)
			t->largest = b->size;
		if (tree == block)
			return;
		tree = t->links[t->addr < b->addr];
	}
}

static uint64_t largest(const struct heap *heap)
{
	return at(heap, heap->root)->largest;
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

/* On the descent to addr, the last node passed on its left, or that node's
 * right subtree, holds the next candidate upwards. */
uint32_t heap_find_from(const struct heap *heap, uint64_t addr, uint64_t size)
{
	uint32_t tree = heap->root, found = 0, above = 0;

	while (tree && at(heap, tree)->largest >= size) {
		const struct heap_block *t = at(heap, tree);

		if (t->addr < addr) {
			tree = t->links[RIGHT];
			continue;
		}
		if (t->size >= size) {
			found = tree;
		} else if (at(heap, t->links[RIGHT])->largest >= size) {
			found = 0;
			above = t->links[RIGHT];
		}
		tree = t->links[LEFT];
	}
	return found ? found : leftmost(heap, above, size);
}

uint32_t heap_find_at(const struct heap *heap, uint64_t addr)
{
	uint32_t tree = heap->root, found = 0;

	while (tree) {
		const struct heap_block *t = at(heap, tree);

		if (t->addr <= addr)
			found = tree;
		tree = t->links[t->addr <= addr];
	}
	return found && addr - at(heap, found)->addr < at(heap, found)->size
		       ? found
		       : 0;
}

const struct heap_index heap_by_address = {
	.add = add_by_address,
	.drop = drop_by_address,
	.find = find_lowest,
	.largest = largest,
	.replace = replace_by_address,
	.extend = extend_by_address,
};

/* ---- by size: one tree per class, so that trees are small ---- */

static unsigned class_of(uint64_t size)
{
	uint64_t units = size / HEAP_GRAIN;
	unsigned power;

	if (units < HEAP_PARTS)
		return (unsigned)units;
	power = 63U - (unsigned)__builtin_clzll(units) -
		(unsigned)__builtin_ctz(HEAP_PARTS);
	return (unsigned)(units >> power) + power * HEAP_PARTS;
}

static void add_by_size(struct heap *heap, uint32_t block)
{
	unsigned class = class_of(at(heap, block)->size);

	insert(heap, &heap->roots[class], block, BY_SIZE);
	heap->classes[class / 64] |= UINT64_C(1) << class % 64;
}

static void drop_by_size(struct heap *heap, uint32_t block)
{
	unsigned class = class_of(at(heap, block)->size);
	uint32_t *root = &heap->roots[class];

	*root = erase(heap, *root, block, BY_SIZE);
	if (!*root)
		heap->classes[class / 64] &= ~(UINT64_C(1) << class % 64);
}

/* The root of the first non-empty class from that one on; 0: none. */
static uint32_t root_from(const struct heap *heap, unsigned class)
{
	size_t i = class / 64;
	uint64_t bits = heap->classes[i] & UINT64_MAX << class % 64;

	while (!bits && ++i < HEAP_CLASSES / 64)
		bits = heap->classes[i];
	return bits ? heap->roots[i * 64 + (size_t)__builtin_ctzll(bits)] : 0;
}

static uint32_t smallest(const struct heap *heap, uint32_t tree, uint64_t size)
{
	uint32_t found = 0;

	while (tree) {
		bool serves = at(heap, tree)->size >= size;

		if (serves)
			found = tree;
		tree = at(heap, tree)->links[serves ? LEFT : RIGHT];
	}
	return found;
}

static uint32_t find_smallest(struct heap *heap, uint64_t size)
{
	unsigned class = class_of(size);
	uint32_t found = smallest(heap, heap->roots[class], size);

	return found ? found : smallest(heap, root_from(heap, class + 1), size);
}

static uint64_t last_by_size(const struct heap *heap)
{
	size_t i = HEAP_CLASSES / 64;
	uint32_t tree;

	while (i-- > 0 && !heap->classes[i])
		;
	if (i == SIZE_MAX)
		return 0;
	tree = heap->roots[i * 64 + 63 -
			   (size_t)__builtin_clzll(heap->classes[i])];
	while (at(heap, tree)->links[RIGHT])
		tree = at(heap, tree)->links[RIGHT];
	return at(heap, tree)->size;
}

const struct heap_index heap_by_size = {
	.add = add_by_size,
	.drop = drop_by_size,
	.find = find_smallest,
	.largest = last_by_size,
};
