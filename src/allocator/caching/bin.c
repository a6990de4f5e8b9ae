/* A bin of free blocks: a list, and a tree behind it. */
#include "allocator/caching/bin.h"

/* ---- the ends, and from one block to the next ---- */

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

/* ---- what happens seldom ---- */

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

/* The list's second half goes to the tree: each block once at most, so that
 * this costs an insertion what the tree does. */
void bin_spill(struct bin *bin)
{
	struct block *last = bin->first, *b, *next;

	for (bin->listed = 1; bin->listed < BIN_LISTED / 2; bin->listed++)
		last = last->right;
	for (b = last->right; b; b = next) {
		next = b->right;
		plant(bin, b);
	}
	last->right = NULL;
}

/* Not to the front: into the list, or where that ends before b's place, into
 * the tree. */
void bin_insert_behind(struct bin *bin, struct block *b)
{
	struct block *before = NULL, *after = bin->first;

	while (after && block_is_before(after, b)) {
		before = after;
		after = after->right;
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
	if (++bin->listed == BIN_LISTED)
		bin_spill(bin);
}
