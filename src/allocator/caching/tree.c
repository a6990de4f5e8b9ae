/* SPDX-License-Identifier: MIT */
/* A treap of free blocks. */
#include "allocator/caching/tree.h"

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

void tree_insert(struct tree *tree, struct block *b)
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

void tree_remove(struct tree *tree, struct block *b)
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

struct block *tree_first(const struct tree *tree)
{
	return leftmost(tree->root);
}

struct block *tree_last(const struct tree *tree)
{
	return rightmost(tree->root);
}

struct block *tree_next(const struct block *b)
{
	if (b->right)
		return leftmost(b->right);
	while (b->parent && b->parent->right == b)
		b = b->parent;
	return b->parent;
}

struct block *tree_prev(const struct block *b)
{
	if (b->left)
		return rightmost(b->left);
	while (b->parent && b->parent->left == b)
		b = b->parent;
	return b->parent;
}

struct block *tree_best(const struct tree *tree, uint64_t size)
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
