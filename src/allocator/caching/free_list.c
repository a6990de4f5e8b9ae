/* SPDX-License-Identifier: MIT */
/* Free lists: size-class bins, and the bitmap of those that are not empty. */
#include "allocator/caching/free_list.h"

#include <assert.h>
#include <stdlib.h>

#include "allocator/caching/pool.h"
#include "base/mem.h"

/* ---- the tree of a bin ---- */

/* A hash of the address: objects are 128 bytes apart, and the high bits of the
 * product are well mixed. */
static uint32_t priority(const struct block *b)
{
	return (uint32_t)((uintptr_t)b >> 7) * 2654435769u;
}

/* Splits the subtree at node into the blocks before b, which become b's left
 * subtree, and the others, which become its right one. */
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

/* Joins two subtrees under `parent`; all of a sorts before all of b. */
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

#define MAX_WALK  64 /* most steps of a walk along the list */
#define LIST_KEPT 8  /* length of the list after a longer walk */

static void bin_tree_insert(struct bin *bin, struct block *b)
{
	b->is_in_tree = true;
	tree_insert(&bin->tree, b);
}

static void bin_tree_remove(struct bin *bin, struct block *b)
{
	b->is_in_tree = false;
	tree_remove(&bin->tree, b);
}

/* Moves all but the first LIST_KEPT blocks of the list into the tree. Blocks
 * never move back, so each is moved at most once while it is free: amortized
 * O(log n). */
static void bin_spill_tail(struct bin *bin)
{
	struct block *last = bin->first, *b, *next;

	for (int i = 1; i < LIST_KEPT; i++)
		last = last->right;
	b = last->right;
	last->right = NULL;
	for (; b; b = next) {
		next = b->right;
		bin_tree_insert(bin, b);
	}
}

/* ---- walks along the list ---- */

/* The next block of the list; NULL at its end, or after MAX_WALK steps, when
 * the rest of the list has just been moved into the tree. */
static struct block *step(struct bin *bin, struct block *b, unsigned *steps)
{
	if (++*steps < MAX_WALK)
		return b->right;
	bin_spill_tail(bin);
	return NULL;
}

/* Inserts b, which does not belong at the front: into the list or, if its place
 * is past the end of the list, into the tree. */
static void bin_insert_sorted(struct bin *bin, struct block *b)
{
	struct block *before = NULL, *after = bin->first;
	unsigned steps = 0;

	while (after && block_is_before(after, b)) {
		before = after;
		after = step(bin, after, &steps);
	}
	if (!after && bin->tree.root &&
	    block_is_before(tree_first(&bin->tree), b)) {
		bin_tree_insert(bin, b);
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

/* ---- first and last, next and previous ---- */

static inline bool bin_is_empty(const struct bin *bin)
{
	return !bin->first && !bin->tree.root;
}

/* The first block; NULL: the bin is empty. */
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

/* ---- the fast paths: the front of the list ---- */

static inline void bin_insert(struct bin *bin, struct block *b)
{
	struct block *first = bin->first;

	if (first ? block_is_before(first, b) : bin->tree.root != NULL) {
		bin_insert_sorted(bin, b);
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
		bin_tree_remove(bin, b);
		return;
	}
	*(b->left ? &b->left->right : &bin->first) = b->right;
	if (b->right)
		b->right->left = b->left;
}

/* The best fit for size bytes in this bin; NULL: none. */
static inline struct block *bin_best(struct bin *bin, uint64_t size)
{
	struct block *first = bin->first;

	return first && first->size >= size ? first : bin_search(bin, size);
}

/* ---- pages of bins and their bitmaps ---- */

static void add_page(struct free_list *list, unsigned n)
{
	list->pages[n] = gp_mem_alloc(1, sizeof(*list->pages[n]));
}

void free_list_add_to_bin(struct free_list *list, struct block *b)
{
	unsigned bin = bin_index(b->size), n = bin >> BIN_PAGE_SHIFT;
	struct bin_page *page = list->pages[n];

	if (!page) {
		add_page(list, n);
		free_list_add_to_bin(list, b);
		return;
	}
	list->bin_bits[n] |= UINT64_C(1) << bin % BINS_PER_PAGE;
	list->page_bits |= UINT64_C(1) << n;
	bin_insert(&page->bins[bin % BINS_PER_PAGE], b);
}

void free_list_remove_from_bin(struct free_list *list, struct block *b)
{
	unsigned bin = bin_index(b->size), n = bin >> BIN_PAGE_SHIFT;
	struct bin_page *page = list->pages[n];

	bin_remove(&page->bins[bin % BINS_PER_PAGE], b);
	if (!bin_is_empty(&page->bins[bin % BINS_PER_PAGE]))
		return;
	list->bin_bits[n] &= ~(UINT64_C(1) << bin % BINS_PER_PAGE);
	list->page_bits &= ~((uint64_t)!list->bin_bits[n] << n);
}

/* The first block of page n or a later one; NULL: none. */
static inline struct block *first_from_page(const struct free_list *list,
					    unsigned n)
{
	uint64_t pages = n < BIN_PAGES ? list->page_bits >> n : 0;

	if (!pages)
		return NULL;
	n += (unsigned)__builtin_ctzll(pages);
	return bin_first(
		&list->pages[n]->bins[__builtin_ctzll(list->bin_bits[n])]);
}

/* The first block of the bins after that one; NULL: none. */
static inline struct block *first_after_bin(const struct free_list *list,
					    unsigned bin)
{
	unsigned n = bin >> BIN_PAGE_SHIFT;
	uint64_t bins = list->bin_bits[n] >> bin % BINS_PER_PAGE >> 1;

	if (!bins)
		return first_from_page(list, n + 1);
	return bin_first(
		bin_at(list, bin + 1 + (unsigned)__builtin_ctzll(bins)));
}

static unsigned highest(uint64_t bits)
{
	return 63 - (unsigned)__builtin_clzll(bits);
}

/* The last block of the pages before n; NULL: none. */
static struct block *last_before_page(const struct free_list *list, unsigned n)
{
	uint64_t pages = list->page_bits & ((UINT64_C(1) << n) - 1);

	if (!pages)
		return NULL;
	n = highest(pages);
	return bin_last(&list->pages[n]->bins[highest(list->bin_bits[n])]);
}

/* ---- the free list ---- */

void free_list_release(struct free_list *list)
{
	for (unsigned i = 0; i < BIN_PAGES; i++)
		free(list->pages[i]);
	free(list->unmapped);
}

/* Inserts the newest block into its bin, so that a walk finds it there. */
static void bin_newest(struct free_list *list)
{
	if (list->newest)
		free_list_add_to_bin(list, list->newest);
	list->newest = NULL;
}

struct block *free_list_search(struct free_list *list, unsigned bin,
			       uint64_t size)
{
	struct block *best = NULL;

	if (list->bin_bits[bin >> BIN_PAGE_SHIFT] >> bin % BINS_PER_PAGE & 1)
		best = bin_best(bin_at(list, bin), size);
	return best ? best : first_after_bin(list, bin);
}

struct block *free_list_next(struct free_list *list, const struct block *b)
{
	unsigned bin = bin_index(b->size);
	struct block *next;

	bin_newest(list);
	next = bin_next(bin_at(list, bin), b);
	return next ? next : first_after_bin(list, bin);
}

struct block *free_list_prev(struct free_list *list, const struct block *b)
{
	unsigned bin = bin_index(b->size), n = bin >> BIN_PAGE_SHIFT;
	const struct bin_page *page;
	struct block *prev;
	uint64_t below;

	bin_newest(list);
	page = list->pages[n];
	prev = bin_prev(&page->bins[bin % BINS_PER_PAGE], b);
	below = list->bin_bits[n] & ((UINT64_C(1) << bin % BINS_PER_PAGE) - 1);
	if (prev)
		return prev;
	return below ? bin_last(&page->bins[highest(below)])
		     : last_before_page(list, n);
}

struct block *free_list_last(struct free_list *list)
{
	bin_newest(list);
	return last_before_page(list, BIN_PAGES);
}

/* ---- unmapped blocks: few, so a sorted array ---- */

static size_t unmapped_at(const struct free_list *list, uint64_t addr)
{
	size_t low = 0, high = list->unmapped_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->unmapped[middle]->addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void free_list_insert_unmapped(struct free_list *list, struct block *b)
{
	size_t at = unmapped_at(list, b->addr);

	GP_INSERT(list->unmapped, list->unmapped_count, list->unmapped_room,
		  at);
	list->unmapped[at] = b;
}

void free_list_remove_unmapped(struct free_list *list, const struct block *b)
{
	size_t at = unmapped_at(list, b->addr);

	/* A start state's reservations may overlap those made later, where the
	 * replay does not reproduce the recorded addresses; so an address may
	 * occur twice. */
	while (list->unmapped[at] != b)
		at++;
	assert(at < list->unmapped_count);
	GP_REMOVE(list->unmapped, list->unmapped_count, at);
}
