/* SPDX-License-Identifier: MIT */
/* A shelf of free blocks: bins, and which of them hold any. */
#include "allocator/caching/shelf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/caching/pool.h"
#include "base/mem.h"

/* ---- a bin's tree ---- */

/* Random enough: objects lie 128 bytes apart, the product's high bits mix. */
static uint32_t priority(const struct block *b)
{
	return (uint32_t)((uintptr_t)b >> 7) * 2654435769u;
}

/* Cuts what is below a node into b's subtrees: what is before it and not. */
static void split(struct block *node, struct block *b)
{
	struct block **before = &b->left, **after = &b->right;
	struct block *above_before = b, *above_after = b;

	while (node) {
		if (block_is_before(node, b)) {
			*before = node;
			before = &node->right;
			node->parent = above_before;
			above_before = node;
		} else {
			*after = node;
			after = &node->left;
			node->parent = above_after;
			above_after = node;
		}
		node = above_before == node ? node->right : node->left;
	}
	*before = *after = NULL;
}

/* Joins two subtrees, all of a before all of b, below parent. */
static struct block *join(struct block *a, struct block *b,
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

static void tree_insert(struct tree *tree, struct block *b)
{
	struct block **link = &tree->root, *parent = NULL, *below;

	while (*link && priority(*link) >= priority(b)) {
		parent = *link;
		link = block_is_before(parent, b) ? &parent->right
						  : &parent->left;
	}
	below = *link;
	b->parent = parent;
	*link = b;
	split(below, b);
}

static void tree_remove(struct tree *tree, struct block *b)
{
	struct block *parent = b->parent;
	struct block *below = join(b->left, b->right, parent);

	if (!parent)
		tree->root = below;
	else if (parent->left == b)
		parent->left = below;
	else
		parent->right = below;
}

static struct block *leftmost(struct block *node)
{
	while (node && node->left)
		node = node->left;
	return node;
}

static struct block *rightmost(struct block *node)
{
	while (node && node->right)
		node = node->right;
	return node;
}

static struct block *tree_first(const struct tree *tree)
{
	return leftmost(tree->root);
}

static struct block *tree_last(const struct tree *tree)
{
	return rightmost(tree->root);
}

static struct block *tree_next(const struct block *b)
{
	if (b->right)
		return leftmost(b->right);
	while (b->parent && b->parent->right == b)
		b = b->parent;
	return b->parent;
}

static struct block *tree_prev(const struct block *b)
{
	if (b->left)
		return rightmost(b->left);
	while (b->parent && b->parent->left == b)
		b = b->parent;
	return b->parent;
}

static struct block *tree_best(const struct tree *tree, uint64_t size)
{
	struct block *node = tree->root, *best = NULL;

	while (node) {
		if (node->size >= size) {
			best = node;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return best;
}

/* ---- bins ---- */

#define FAR  64 /* steps that a walk takes at most */
#define KEPT 8	/* blocks of the list, when one did */

static void plant(struct bin *bin, struct block *b)
{
	b->is_in_tree = true;
	tree_insert(&bin->tree, b);
}

static void bin_uproot(struct bin *bin, struct block *b)
{
	b->is_in_tree = false;
	tree_remove(&bin->tree, b);
}

/* All but the list's first go there.  None comes back, so that this costs a
 * block's stay no more than the tree does. */
static void plant_rest(struct bin *bin)
{
	struct block *last = bin->first, *b, *next;

	for (int i = 1; i < KEPT; i++)
		last = last->right;
	b = last->right;
	last->right = NULL;
	for (; b; b = next) {
		next = b->right;
		plant(bin, b);
	}
}

/* ---- walks along the list ---- */

/* NULL: the list ends, now if not before. */
static struct block *step(struct bin *bin, struct block *b, unsigned *steps)
{
	if (++*steps < FAR)
		return b->right;
	plant_rest(bin);
	return NULL;
}

/* Not to the front: into the list, or where that ends before b's place, into
 * the tree. */
static void bin_insert_behind(struct bin *bin, struct block *b)
{
	struct block *before = NULL, *after = bin->first;
	unsigned steps = 0;

	while (after && block_is_before(after, b)) {
		before = after;
		after = step(bin, after, &steps);
	}
	if (!after && bin->tree.root &&
	    block_is_before(tree_first(&bin->tree), b)) {
		plant(bin, b);
		return;
	}
	b->left = before;
	b->right = after;
	*(before ? &before->right : &bin->first) = b;
	if (after)
		after->left = b;
}

static struct block *bin_search(struct bin *bin, uint64_t size)
{
	struct block *b = bin->first;
	unsigned steps = 0;

	while (b && b->size < size)
		b = step(bin, b, &steps);
	return b ? b : tree_best(&bin->tree, size);
}

/* ---- the ends, and from one block to the next ---- */

static inline bool bin_is_empty(const struct bin *bin)
{
	return !bin->first && !bin->tree.root;
}

/* NULL: the bin is empty, or ends there. */
static inline struct block *bin_first(const struct bin *bin)
{
	return bin->first ? bin->first : tree_first(&bin->tree);
}

static struct block *list_last(const struct bin *bin)
{
	struct block *b = bin->first;

	while (b && b->right)
		b = b->right;
	return b;
}

static struct block *bin_last(const struct bin *bin)
{
	return bin->tree.root ? tree_last(&bin->tree) : list_last(bin);
}

static struct block *bin_next(const struct bin *bin, const struct block *b)
{
	if (b->is_in_tree)
		return tree_next(b);
	return b->right ? b->right : tree_first(&bin->tree);
}

static struct block *bin_prev(const struct bin *bin, const struct block *b)
{
	struct block *prev;

	if (!b->is_in_tree)
		return b->left;
	prev = tree_prev(b);
	return prev ? prev : list_last(bin);
}

/* ---- what is done for every request: the front of the list ---- */

static inline void bin_insert(struct bin *bin, struct block *b)
{
	struct block *first = bin->first;

	if (first ? block_is_before(first, b) : bin->tree.root != NULL) {
		bin_insert_behind(bin, b);
		return;
	}
	b->left = NULL;
	b->right = first;
	bin->first = b;
	if (first)
		first->left = b;
}

static inline void bin_remove(struct bin *bin, struct block *b)
{
	if (b->is_in_tree) {
		bin_uproot(bin, b);
		return;
	}
	*(b->left ? &b->left->right : &bin->first) = b->right;
	if (b->right)
		b->right->left = b->left;
}

/* The first block of at least size bytes; NULL: none. */
static inline struct block *bin_best(struct bin *bin, uint64_t size)
{
	struct block *first = bin->first;

	return first && first->size >= size ? first : bin_search(bin, size);
}

/* ---- which bins hold any ---- */

static void add_page(struct shelf *shelf, unsigned n)
{
	shelf->pages[n] = gp_mem_alloc(1, sizeof(*shelf->pages[n]));
}

void shelf_put(struct shelf *shelf, struct block *b)
{
	unsigned bin = shelf_bin(b->size), n = bin >> SHELF_PAGE_SHIFT;
	struct shelf_page *page = shelf->pages[n];

	if (!page) {
		add_page(shelf, n);
		shelf_put(shelf, b);
		return;
	}
	shelf->held[n] |= UINT64_C(1) << bin % SHELF_PAGE;
	shelf->holds |= UINT64_C(1) << n;
	bin_insert(&page->bins[bin % SHELF_PAGE], b);
}

void shelf_take(struct shelf *shelf, struct block *b)
{
	unsigned bin = shelf_bin(b->size), n = bin >> SHELF_PAGE_SHIFT;
	struct shelf_page *page = shelf->pages[n];

	bin_remove(&page->bins[bin % SHELF_PAGE], b);
	if (!bin_is_empty(&page->bins[bin % SHELF_PAGE]))
		return;
	shelf->held[n] &= ~(UINT64_C(1) << bin % SHELF_PAGE);
	shelf->holds &= ~((uint64_t)!shelf->held[n] << n);
}

/* The first block of the pages from there on; NULL: none. */
static inline struct block *first_of_pages(const struct shelf *shelf,
					   unsigned n)
{
	uint64_t pages = n < SHELF_PAGES ? shelf->holds >> n : 0;

	if (!pages)
		return NULL;
	n += (unsigned)__builtin_ctzll(pages);
	return bin_first(
		&shelf->pages[n]->bins[__builtin_ctzll(shelf->held[n])]);
}

/* The first block of the bins behind that one; NULL: none. */
static inline struct block *first_behind(const struct shelf *shelf,
					 unsigned bin)
{
	unsigned n = bin >> SHELF_PAGE_SHIFT;
	uint64_t bins = shelf->held[n] >> bin % SHELF_PAGE >> 1;

	if (!bins)
		return first_of_pages(shelf, n + 1);
	return bin_first(
		shelf_bin_at(shelf, bin + 1 + (unsigned)__builtin_ctzll(bins)));
}

static unsigned highest(uint64_t bits)
{
	return 63 - (unsigned)__builtin_clzll(bits);
}

/* The last block of the first so many pages; NULL: none. */
static struct block *last_of_pages(const struct shelf *shelf, unsigned n)
{
	uint64_t pages = shelf->holds & ((UINT64_C(1) << n) - 1);

	if (!pages)
		return NULL;
	n = highest(pages);
	return bin_last(&shelf->pages[n]->bins[highest(shelf->held[n])]);
}

/* ---- the shelf ---- */

void shelf_release(struct shelf *shelf)
{
	for (unsigned i = 0; i < SHELF_PAGES; i++)
		free(shelf->pages[i]);
	free(shelf->unmapped);
}

/* The block in hand to its bin. */
static void lay_down(struct shelf *shelf)
{
	if (shelf->hand)
		shelf_put(shelf, shelf->hand);
	shelf->hand = NULL;
}

struct block *shelf_search(struct shelf *shelf, unsigned bin, uint64_t size)
{
	struct block *best = NULL;

	if (shelf->held[bin >> SHELF_PAGE_SHIFT] >> bin % SHELF_PAGE & 1)
		best = bin_best(shelf_bin_at(shelf, bin), size);
	return best ? best : first_behind(shelf, bin);
}

struct block *shelf_next(struct shelf *shelf, const struct block *b)
{
	unsigned bin = shelf_bin(b->size);
	struct block *next;

	lay_down(shelf);
	next = bin_next(shelf_bin_at(shelf, bin), b);
	return next ? next : first_behind(shelf, bin);
}

struct block *shelf_prev(struct shelf *shelf, const struct block *b)
{
	unsigned bin = shelf_bin(b->size), n = bin >> SHELF_PAGE_SHIFT;
	const struct shelf_page *page;
	struct block *prev;
	uint64_t below;

	lay_down(shelf);
	page = shelf->pages[n];
	prev = bin_prev(&page->bins[bin % SHELF_PAGE], b);
	below = shelf->held[n] & ((UINT64_C(1) << bin % SHELF_PAGE) - 1);
	if (prev)
		return prev;
	return below ? bin_last(&page->bins[highest(below)])
		     : last_of_pages(shelf, n);
}

struct block *shelf_last(struct shelf *shelf)
{
	lay_down(shelf);
	return last_of_pages(shelf, SHELF_PAGES);
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

	/* Reservations of a recording that is not followed may overlap. */
	while (shelf->unmapped[at] != b)
		at++;
	assert(at < shelf->unmapped_count);
	shelf->unmapped_count--;
	memmove(shelf->unmapped + at, shelf->unmapped + at + 1,
		(shelf->unmapped_count - at) * sizeof(*shelf->unmapped));
}
