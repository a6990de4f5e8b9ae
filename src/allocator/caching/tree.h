/* SPDX-License-Identifier: MIT */
/*
 * A tree of free blocks in the shelf's order: a treap (Seidel and Aragon 1996),
 * which is a binary search tree by key and a heap by random priorities.  Zeroed
 * is empty.
 */
#ifndef CACHING_TREE_H
#define CACHING_TREE_H

#include <stdint.h>

#include "allocator/caching/block.h"

struct tree {
	struct block *root;
};

void tree_insert(struct tree *tree, struct block *b);
void tree_remove(struct tree *tree, struct block *b);

/* NULL: the tree is empty, or ends there. */
struct block *tree_first(const struct tree *tree);
struct block *tree_last(const struct tree *tree);
struct block *tree_next(const struct block *b);
struct block *tree_prev(const struct block *b);
/* The first block of at least size bytes. */
struct block *tree_best(const struct tree *tree, uint64_t size);

#endif
