/* SPDX-License-Identifier: MIT */
/*
 * Packing in order of time: first fit by address. Free ranges are in a treap by
 * offset (Seidel, Aragon, "Randomized search trees", 1996) in which each node
 * has the size of the largest range of its subtree. Its priorities are a hash,
 * so the same spans always give the same offsets.
 */
#include "study/floor/heap.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct node {
	uint64_t from, size;
	uint64_t largest; /* of the subtree */
	uint64_t priority;
	uint32_t left, right; /* 0: none */
};

struct heap {
	struct node *nodes;
	size_t count, room;
	uint32_t spare; /* unused nodes, linked by left */
	uint32_t root;
	uint64_t top; /* everything from here on is free */
	uint64_t height;
};

/* ---- the treap ---- */

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void update(struct heap *h, uint32_t i)
{
	struct node *n = &h->nodes[i];

	n->largest = largest(n->size, largest(h->nodes[n->left].largest,
					      h->nodes[n->right].largest));
}

static uint32_t make(struct heap *h, uint64_t from, uint64_t size)
{
	uint32_t i = h->spare;

	if (i) {
		h->spare = h->nodes[i].left;
	} else {
		h->nodes = gp_mem_grow(h->nodes, &h->room, h->count + 1,
				       sizeof(*h->nodes));
		i = (uint32_t)h->count++;
	}
	h->nodes[i] = (struct node){ from, size, size, gp_hash64(from), 0, 0 };
	return i;
}

/* Joins two trees; all of a is below all of b. */
static uint32_t join(struct heap *h, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	if (h->nodes[a].priority > h->nodes[b].priority) {
		h->nodes[a].right = join(h, h->nodes[a].right, b);
		update(h, a);
		return a;
	}
	h->nodes[b].left = join(h, a, h->nodes[b].left);
	update(h, b);
	return b;
}

/* Splits a tree into the ranges that begin below `at`, and the others. */
static void split(struct heap *h, uint32_t i, uint64_t at, uint32_t *low,
		  uint32_t *high)
{
	uint32_t middle;

	if (!i) {
		*low = *high = 0;
		return;
	}
	if (h->nodes[i].from < at) {
		split(h, h->nodes[i].right, at, &middle, high);
		h->nodes[i].right = middle;
		*low = i;
	} else {
		split(h, h->nodes[i].left, at, low, &middle);
		h->nodes[i].left = middle;
		*high = i;
	}
	update(h, i);
}

static void insert(struct heap *h, uint64_t from, uint64_t size)
{
	uint32_t low, high;

	split(h, h->root, from, &low, &high);
	h->root = join(h, join(h, low, make(h, from, size)), high);
}

/* Removes the range that begins there. */
static void erase(struct heap *h, uint64_t from)
{
	uint32_t low, middle, high;

	split(h, h->root, from, &low, &high);
	split(h, high, from + 1, &middle, &high);
	h->nodes[middle].left = h->spare;
	h->spare = middle;
	h->root = join(h, low, high);
}

/* The last range that begins below `at`, or 0. */
static uint32_t before(const struct heap *h, uint64_t at)
{
	uint32_t i = h->root, found = 0;

	while (i) {
		if (h->nodes[i].from < at)
			found = i;
		i = h->nodes[i].from < at ? h->nodes[i].right
					  : h->nodes[i].left;
	}
	return found;
}

/* The range that begins at `at`, or 0. */
static uint32_t at(const struct heap *h, uint64_t at)
{
	uint32_t i = before(h, at + 1);

	return i && h->nodes[i].from == at ? i : 0;
}

/* The lowest range that is large enough, or 0. */
static uint32_t first_fit(const struct heap *h, uint64_t size)
{
	uint32_t i = h->root;

	if (h->nodes[i].largest < size)
		return 0;
	for (;;) {
		const struct node *n = &h->nodes[i];

		if (h->nodes[n->left].largest >= size)
			i = n->left;
		else if (n->size >= size)
			return i;
		else
			i = n->right;
	}
}

/* ---- the heap ---- */

static uint64_t take(struct heap *h, uint64_t size)
{
	uint32_t i = first_fit(h, size);
	uint64_t from = h->top, over;

	if (i) {
		from = h->nodes[i].from;
		over = h->nodes[i].size - size;
		erase(h, from);
		if (over)
			insert(h, from + size, over);
		return from;
	}
	h->top += size;
	h->height = largest(h->height, h->top);
	return from;
}

static void give(struct heap *h, uint64_t from, uint64_t size)
{
	uint32_t low = before(h, from), high = at(h, from + size);

	if (high) {
		size += h->nodes[high].size;
		erase(h, h->nodes[high].from);
	}
	if (low && h->nodes[low].from + h->nodes[low].size == from) {
		from = h->nodes[low].from;
		size += h->nodes[low].size;
		erase(h, from);
	}
	if (from + size == h->top)
		h->top = from;
	else
		insert(h, from, size);
}

uint64_t heap_pack(const struct gp_spans *spans, const struct moment *moments,
		   size_t count, enum heap_direction direction, uint64_t below,
		   uint64_t *offsets)
{
	struct heap h = { .count = 1 };

	h.nodes = gp_mem_grow(NULL, &h.room, 1, sizeof(*h.nodes));
	h.nodes[0] = (struct node){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct moment *m =
			&moments[direction == HEAP_FORWARD ? i : count - 1 - i];
		uint64_t size = spans->items[m->span].size;

		if (size >= below)
			continue;
		if ((m->kind == BEGINS) == (direction == HEAP_FORWARD))
			offsets[m->span] = take(&h, size);
		else
			give(&h, offsets[m->span], size);
	}
	free(h.nodes);
	return h.height;
}
