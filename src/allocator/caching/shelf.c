/*
 * A shelf of free blocks.  The trees are treaps (Seidel and Aragon 1996): a
 * binary search tree by key that is a heap by the blocks' random priorities.
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

static bool is_before(const struct block *a, const struct block *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	if (a->counter != b->counter)
		return a->counter < b->counter;
	return a->addr < b->addr;
}

/* ---- one bin ---- */

/* Cuts the tree into what is before key and what is not. */
static void split_tree(struct block *tree, const struct block *key,
		       struct block **before, struct block **after)
{
	while (tree) {
		if (is_before(tree, key)) {
			*before = tree;
			before = &tree->right;
			tree = tree->right;
		} else {
			*after = tree;
			after = &tree->left;
			tree = tree->left;
		}
	}
	*before = *after = NULL;
}

/* Joins two trees, all of a before all of b. */
static struct block *join_trees(struct block *a, struct block *b)
{
	struct block *root, **link = &root;

	while (a && b) {
		if (a->priority >= b->priority) {
			*link = a;
			link = &a->right;
			a = a->right;
		} else {
			*link = b;
			link = &b->left;
			b = b->left;
		}
	}
	*link = a ? a : b;
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
	struct block **link = &shelf->bins[bin];

	if (!*link) {
		shelf->words[bin / 64] |= UINT64_C(1) << bin % 64;
		shelf->summary |= UINT64_C(1) << bin / 64;
		b->left = b->right = NULL;
		*link = b;
		return;
	}
	while (*link && (*link)->priority >= b->priority)
		link = is_before(*link, b) ? &(*link)->right : &(*link)->left;
	split_tree(*link, b, &b->left, &b->right);
	*link = b;
}

void shelf_remove(struct shelf *shelf, struct block *b)
{
	unsigned bin = bin_of(b->size);
	struct block **link = &shelf->bins[bin];

	while (*link != b) {
		assert(*link);
		link = is_before(*link, b) ? &(*link)->right : &(*link)->left;
	}
	*link = join_trees(b->left, b->right);
	if (!shelf->bins[bin]) {
		shelf->words[bin / 64] &= ~(UINT64_C(1) << bin % 64);
		if (!shelf->words[bin / 64])
			shelf->summary &= ~(UINT64_C(1) << bin / 64);
	}
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
	unsigned bin = bin_of(b->size);
	struct block *tree = shelf->bins[bin], *next = NULL;

	while (tree) {
		if (is_before(b, tree)) {
			next = tree;
			tree = tree->left;
		} else {
			tree = tree->right;
		}
	}
	if (next)
		return next;
	bin = bin_from(shelf, bin + 1);
	return bin < SHELF_BINS ? tree_first(shelf->bins[bin]) : NULL;
}

struct block *shelf_prev(const struct shelf *shelf, const struct block *b)
{
	unsigned bin = bin_of(b->size);
	struct block *tree = shelf->bins[bin], *prev = NULL;

	while (tree) {
		if (is_before(tree, b)) {
			prev = tree;
			tree = tree->right;
		} else {
			tree = tree->left;
		}
	}
	if (prev)
		return prev;
	bin = bin_below(shelf, bin);
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
