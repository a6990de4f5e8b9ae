/* SPDX-License-Identifier: MIT */
/*
 * A bin: free blocks of about one size, in the shelf's order.
 *
 * A list and behind it, for what is far back, a tree.  In recorded and
 * generated traces over half of the blocks come to an empty bin and two in
 * three of the others to the front of theirs, as onto a stack: what is freed is
 * what will be taken next.  So both ends of a block's stay are a few steps.  A
 * search that gets far puts what is behind into the tree, so that none is ever
 * long.
 */
#ifndef CACHING_BIN_H
#define CACHING_BIN_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/caching/block.h"
#include "allocator/caching/tree.h"

/* Zeroed is empty. */
struct bin {
	struct block *first; /* of the list, through left and right */
	struct tree tree;    /* all of it behind all of the list */
};

static inline bool bin_is_empty(const struct bin *bin)
{
	return !bin->first && !bin->tree.root;
}

/* NULL: the bin is empty, or ends there. */
static inline struct block *bin_first(const struct bin *bin)
{
	return bin->first ? bin->first : tree_first(&bin->tree);
}

struct block *bin_last(const struct bin *bin);
struct block *bin_next(const struct bin *bin, const struct block *b);
struct block *bin_prev(const struct bin *bin, const struct block *b);

/* What those below do seldom. */
void bin_insert_behind(struct bin *bin, struct block *b);
void bin_uproot(struct bin *bin, struct block *b);
struct block *bin_search(struct bin *bin, uint64_t size);

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

#endif
