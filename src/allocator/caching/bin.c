/* SPDX-License-Identifier: MIT */
/* A bin of free blocks: a list, and a tree behind it. */
#include "allocator/caching/bin.h"

#define FAR  64 /* steps that a walk takes at most */
#define KEPT 8	/* blocks of the list, when one did */

/* ---- the tree ---- */

static void plant(struct bin *bin, struct block *b)
{
	b->is_in_tree = true;
	tree_insert(&bin->tree, b);
}

void bin_uproot(struct bin *bin, struct block *b)
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
void bin_insert_behind(struct bin *bin, struct block *b)
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

struct block *bin_search(struct bin *bin, uint64_t size)
{
	struct block *b = bin->first;
	unsigned steps = 0;

	while (b && b->size < size)
		b = step(bin, b, &steps);
	return b ? b : tree_best(&bin->tree, size);
}

/* ---- the end, and from one block to the next ---- */

static struct block *list_last(const struct bin *bin)
{
	struct block *b = bin->first;

	while (b && b->right)
		b = b->right;
	return b;
}

struct block *bin_last(const struct bin *bin)
{
	return bin->tree.root ? tree_last(&bin->tree) : list_last(bin);
}

struct block *bin_next(const struct bin *bin, const struct block *b)
{
	if (b->is_in_tree)
		return tree_next(b);
	return b->right ? b->right : tree_first(&bin->tree);
}

struct block *bin_prev(const struct bin *bin, const struct block *b)
{
	struct block *prev;

	if (!b->is_in_tree)
		return b->left;
	prev = tree_prev(b);
	return prev ? prev : list_last(bin);
}
