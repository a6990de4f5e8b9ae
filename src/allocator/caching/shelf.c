/*
 * A shelf of free blocks.  The trees are treaps (Seidel and Aragon 1996): a
 * binary search tree by key that is a heap by random priorities.
 */
#include "allocator/caching/shelf.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static unsigned bin_of(uint64_t size)
{
	uint64_t units = size >> SHELF_UNIT_SHIFT;
	unsigned octave;

	if (units < SHELF_EXACT)
		return (unsigned)units;
	octave = 63 - (unsigned)__builtin_clzll(units);
	return SHELF_EXACT + ((octave - 6) << SHELF_STEPS_SHIFT) +
	       ((units >> (octave - SHELF_STEPS_SHIFT)) &
		((1 << SHELF_STEPS_SHIFT) - 1));
}

/* Without branches: which way it goes is anybody's guess. */
static bool is_before(const struct block *a, const struct block *b)
{
	return (a->size < b->size) |
	       ((a->size == b->size) &
		((a->counter < b->counter) |
		 ((a->counter == b->counter) & (a->addr < b->addr))));
}

/* ---- one bin ---- */

/* Random enough: objects lie 128 bytes apart, the product's high bits mix. */
static uint32_t priority(const struct block *b)
{
	return (uint32_t)((uintptr_t)b >> 7) * 2654435769u;
}

/* Cuts the tree into b's subtrees: what is before it and what is not. */
static void split_tree(struct block *tree, struct block *b)
{
	struct block **before = &b->left, **after = &b->right;
	struct block *above_before = b, *above_after = b;

	while (tree) {
		if (is_before(tree, b)) {
			*before = tree;
			before = &tree->right;
			tree->parent = above_before;
			above_before = tree;
		} else {
			*after = tree;
			after = &tree->left;
			tree->parent = above_after;
			above_after = tree;
		}
		tree = above_before == tree ? tree->right : tree->left;
	}
	*before = *after = NULL;
}

/* Joins two trees, all of a before all of b, below parent. */
static struct block *join_trees(struct block *a, struct block *b,
				struct block *parent)
{
	struct block *root, **link = &root;

	while (a && b) {
		struct block *top = priority(a) >= priority(b) ? a : b;

		*link = top;
		top->parent = parent;
		parent = top;
		if (top == a) {
			link = &a->right;
			a = a->right;
		} else {
			link = &b->left;
			b = b->left;
		}
	}
	a = a ? a : b;
	*link = a;
	if (a)
		a->parent = parent;
	return root;
}

static struct block *tree_first(struct block *tree)
{
	while (tree->left)
		tree = tree->left;
	return tree;
}

static struct block *tree_last(struct block *tree)
{
	while (tree->right)
		tree = tree->right;
	return tree;
}

/* ---- the bitmap ---- */

/* The first bin at or above that holds a block; SHELF_BINS: none. */
static unsigned bin_from(const struct shelf *shelf, unsigned bin)
{
	unsigned word = bin / 64;
	uint64_t bits;

	if (bin >= SHELF_BINS)
		return SHELF_BINS;
	bits = shelf->words[word] & ~UINT64_C(0) << bin % 64;
	if (!bits) {
		uint64_t above =
			shelf->summary & ~(~UINT64_C(0) >> (63 - word));

		if (!above)
			return SHELF_BINS;
		word = (unsigned)__builtin_ctzll(above);
		bits = shelf->words[word];
	}
	return word * 64 + (unsigned)__builtin_ctzll(bits);
}

/* The last bin below that holds a block; SHELF_BINS: none. */
static unsigned bin_below(const struct shelf *shelf, unsigned bin)
{
	while (bin-- > 0) {
		uint64_t bits = shelf->words[bin / 64] &
				~UINT64_C(0) >> (63 - bin % 64);

		if (bits)
			return bin / 64 * 64 + 63 -
			       (unsigned)__builtin_clzll(bits);
		bin = bin / 64 * 64; /* go on with the word below */
	}
	return SHELF_BINS;
}

/* ---- the shelf ---- */

void shelf_insert(struct shelf *shelf, struct block *b)
{
	unsigned bin = bin_of(b->size);
	struct block **link = &shelf->bins[bin], *parent = NULL;

	if (!*link) {
		shelf->words[bin / 64] |= UINT64_C(1) << bin % 64;
		shelf->summary |= UINT64_C(1) << bin / 64;
		b->left = b->right = b->parent = NULL;
		*link = b;
		return;
	}
	while (*link && priority(*link) >= priority(b)) {
		parent = *link;
		link = is_before(parent, b) ? &parent->right : &parent->left;
	}
	b->parent = parent;
	parent = *link;
	*link = b;
	split_tree(parent, b);
}

static void clear_bin(struct shelf *shelf, unsigned bin)
{
	shelf->words[bin / 64] &= ~(UINT64_C(1) << bin % 64);
	if (!shelf->words[bin / 64])
		shelf->summary &= ~(UINT64_C(1) << bin / 64);
}

void shelf_remove(struct shelf *shelf, struct block *b)
{
	struct block *parent = b->parent;
	struct block *below = join_trees(b->left, b->right, parent);
	unsigned bin;

	if (parent) {
		if (parent->left == b)
			parent->left = below;
		else
			parent->right = below;
		return;
	}
	bin = bin_of(b->size);
	shelf->bins[bin] = below;
	if (!below)
		clear_bin(shelf, bin);
}

void shelf_shrink(struct shelf *shelf, struct block *b, uint64_t bytes)
{
	bool is_alone = !b->parent && !b->left && !b->right;
	bool stays = is_alone && bin_of(b->size) == bin_of(b->size - bytes);

	if (!stays)
		shelf_remove(shelf, b);
	b->addr += bytes;
	b->size -= bytes;
	if (!stays)
		shelf_insert(shelf, b);
}

struct block *shelf_best(const struct shelf *shelf, uint64_t size)
{
	unsigned bin = bin_of(size);
	struct block *tree = shelf->bins[bin], *best = NULL;

	while (tree) {
		if (tree->size >= size) {
			best = tree;
			tree = tree->left;
		} else {
			tree = tree->right;
		}
	}
	if (best)
		return best;
	bin = bin_from(shelf, bin + 1);
	return bin < SHELF_BINS ? tree_first(shelf->bins[bin]) : NULL;
}

struct block *shelf_next(const struct shelf *shelf, const struct block *b)
{
	unsigned bin;

	if (b->right)
		return tree_first(b->right);
	for (; b->parent; b = b->parent)
		if (b->parent->left == b)
			return b->parent;
	bin = bin_from(shelf, bin_of(b->size) + 1);
	return bin < SHELF_BINS ? tree_first(shelf->bins[bin]) : NULL;
}

struct block *shelf_prev(const struct shelf *shelf, const struct block *b)
{
	unsigned bin;

	if (b->left)
		return tree_last(b->left);
	for (; b->parent; b = b->parent)
		if (b->parent->right == b)
			return b->parent;
	bin = bin_below(shelf, bin_of(b->size));
	return bin < SHELF_BINS ? tree_last(shelf->bins[bin]) : NULL;
}

struct block *shelf_last(const struct shelf *shelf)
{
	unsigned bin = bin_below(shelf, SHELF_BINS);

	return bin < SHELF_BINS ? tree_last(shelf->bins[bin]) : NULL;
}

/* ---- unmapped blocks: few, so a sorted array ---- */

static size_t unmapped_at(const struct shelf *shelf, uint64_t addr)
{
	size_t low = 0, high = shelf->unmapped_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (shelf->unmapped[middle]->addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void shelf_insert_unmapped(struct shelf *shelf, struct block *b)
{
	size_t at = unmapped_at(shelf, b->addr);

	shelf->unmapped = gp_mem_grow(shelf->unmapped, &shelf->unmapped_room,
				      shelf->unmapped_count + 1,
				      sizeof(*shelf->unmapped));
	memmove(shelf->unmapped + at + 1, shelf->unmapped + at,
		(shelf->unmapped_count - at) * sizeof(*shelf->unmapped));
	shelf->unmapped[at] = b;
	shelf->unmapped_count++;
}

void shelf_remove_unmapped(struct shelf *shelf, const struct block *b)
{
	size_t at = unmapped_at(shelf, b->addr);

	assert(at < shelf->unmapped_count && shelf->unmapped[at] == b);
	shelf->unmapped_count--;
	memmove(shelf->unmapped + at, shelf->unmapped + at + 1,
		(shelf->unmapped_count - at) * sizeof(*shelf->unmapped));
}
