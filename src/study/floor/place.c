/* SPDX-License-Identifier: MIT */
/*
 * Packing spans: in order of time, first fit by address; or in a given order,
 * each at the lowest place that is free during its lifetime.
 */
#include "study/floor/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/map.h"
#include "base/mem.h"

/*
 * ---- in order of time ----
 *
 * Free ranges are in a treap by offset (Seidel, Aragon, "Randomized search
 * trees", 1996) in which each node has the size of the largest range of its
 * subtree. Its priorities are a hash, so the same spans always give the same
 * offsets.
 */

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

static void update(struct heap *h, uint32_t i)
{
	struct node *n = &h->nodes[i];

	n->largest = gp_larger(n->size, gp_larger(h->nodes[n->left].largest,
						  h->nodes[n->right].largest));
}

static uint32_t make(struct heap *h, uint64_t from, uint64_t size)
{
	uint32_t i = h->spare;

	if (i) {
		h->spare = h->nodes[i].left;
	} else {
		GP_GROW(h->nodes, h->count + 1, h->room);
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

/* Adds a new range to tree i; returns the tree. */
static uint32_t insert(struct heap *h, uint32_t i, uint32_t new)
{
	struct node *nodes = h->nodes, *n = &nodes[i];

	if (!i || nodes[new].priority > n->priority) {
		split(h, i, nodes[new].from, &nodes[new].left,
		      &nodes[new].right);
		i = new;
	} else if (nodes[new].from < n->from) {
		n->left = insert(h, n->left, new);
	} else {
		n->right = insert(h, n->right, new);
	}
	update(h, i);
	return i;
}

/* Removes the range that begins at `at` from tree i; returns the tree. */
static uint32_t erase(struct heap *h, uint32_t i, uint64_t at)
{
	struct node *n = &h->nodes[i];
	uint32_t rest;

	if (n->from == at) {
		rest = join(h, n->left, n->right);
		n->left = h->spare;
		h->spare = i;
		return rest;
	}
	if (at < n->from)
		n->left = erase(h, n->left, at);
	else
		n->right = erase(h, n->right, at);
	update(h, i);
	return i;
}

/* Changes the range that begins at `at`; it stays between its neighbours. */
static void change(struct heap *h, uint32_t i, uint64_t at, uint64_t from,
		   uint64_t size)
{
	struct node *n = &h->nodes[i];

	if (n->from == at) {
		n->from = from;
		n->size = size;
	} else {
		change(h, at < n->from ? n->left : n->right, at, from, size);
	}
	update(h, i);
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

static uint64_t take(struct heap *h, uint64_t size)
{
	uint32_t i = first_fit(h, size);
	uint64_t from = h->top, over;

	if (i) {
		from = h->nodes[i].from;
		over = h->nodes[i].size - size;
		if (over)
			change(h, h->root, from, from + size, over);
		else
			h->root = erase(h, h->root, from);
		return from;
	}
	h->top += size;
	h->height = gp_larger(h->height, h->top);
	return from;
}

/* Free ranges are apart from each other and from the top. */
static void give(struct heap *h, uint64_t from, uint64_t size)
{
	uint32_t low = before(h, from), high = at(h, from + size);
	uint64_t start = from, end = from + size;

	if (low && h->nodes[low].from + h->nodes[low].size == from)
		start = h->nodes[low].from;
	if (high)
		end += h->nodes[high].size;
	if (start < from && (high || end == h->top))
		h->root = erase(h, h->root, high ? from + size : start);
	if (end == h->top)
		h->top = start;
	else if (start < from)
		change(h, h->root, start, start, end - start);
	else if (high)
		change(h, h->root, from + size, from, end - from);
	else
		h->root = insert(h, h->root, make(h, from, size));
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

/* ---- in a given order ---- */

/* A range of bytes in use. */
struct taken {
	uint64_t from, to;
};

/* A span, ranked by its lower time. */
struct ranked {
	uint64_t lower, upper; /* upper is 0 until it is placed */
	struct taken taken;
	uint32_t span;
};

/*
 * The rank of a span is its position in order of lower time. For every stride
 * of 1 << shift ranks, `live` lists the spans of lower ranks that are still in
 * use then. So the spans that may overlap a span in time are one such list and
 * the ranks from there up to the span's end.
 */
struct place {
	const struct gp_spans *spans;
	uint32_t *rank; /* by span */
	struct ranked *ranked;
	uint32_t *live; /* ranks; the lists are contiguous */
	size_t *lists;	/* by rank >> shift: where its list begins in live */
	unsigned shift;
	size_t live_room;
	struct taken *taken; /* scratch: room for all spans */
	size_t count;
};

static int by_lower(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->lower != y->lower)
		return x->lower < y->lower ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

#define LEAST_SHIFT 6 /* least shift: 64 ranks per list */
#define MOST_LIVE   4 /* most entries of all lists, per span */

static uint64_t end_of(const struct place *p, uint32_t rank)
{
	return p->spans->items[p->ranked[rank].span].upper;
}

/* Removes the spans that have ended, and adds those of ranks [from, to). */
static size_t next_list(const struct place *p, uint32_t *now, size_t count,
			uint32_t from, uint32_t to)
{
	uint64_t time = p->ranked[to].lower;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (end_of(p, now[i]) > time)
			now[kept++] = now[i];
	for (; from < to; from++)
		if (end_of(p, from) > time)
			now[kept++] = from;
	return kept;
}

/* False: the lists would be too long. */
static bool list_live(struct place *p, uint32_t *now)
{
	size_t n = p->spans->count, count = 0, end = 0;
	uint32_t stride = 1U << p->shift;

	for (size_t list = 0; list << p->shift < n; list++) {
		uint32_t rank = (uint32_t)(list << p->shift);

		if (list)
			count = next_list(p, now, count, rank - stride, rank);
		if (end + count > MOST_LIVE * n + stride)
			return false;
		GP_GROW(p->live, end + count + 1, p->live_room);
		memcpy(p->live + end, now, count * sizeof(*now));
		end += count;
		p->lists[list + 1] = end;
	}
	return true;
}

struct place *place_create(const struct gp_spans *spans)
{
	struct place *p = gp_mem_alloc(1, sizeof(*p));
	size_t n = spans->count;
	uint32_t *now = gp_mem_alloc(n, sizeof(*now));

	p->spans = spans;
	p->shift = LEAST_SHIFT;
	p->rank = gp_mem_alloc(n, sizeof(*p->rank));
	p->ranked = gp_mem_alloc(n, sizeof(*p->ranked));
	p->taken = gp_mem_alloc(n, sizeof(*p->taken));
	p->lists = gp_mem_alloc((n >> LEAST_SHIFT) + 2, sizeof(*p->lists));
	for (uint32_t i = 0; i < n; i++)
		p->ranked[i] = (struct ranked){ .lower = spans->items[i].lower,
						.span = i };
	qsort(p->ranked, n, sizeof(*p->ranked), by_lower);
	for (uint32_t i = 0; i < n; i++)
		p->rank[p->ranked[i].span] = i;
	while (!list_live(p, now))
		p->shift++;
	free(now);
	return p;
}

void place_destroy(struct place *place)
{
	if (!place)
		return;
	free(place->rank);
	free(place->ranked);
	free(place->live);
	free(place->lists);
	free(place->taken);
	free(place);
}

static inline void add(struct place *p, uint32_t span, uint32_t rank)
{
	const struct ranked *other = &p->ranked[rank];

	if (!p->spans->gap_count || spans_meet(p->spans, span, other->span))
		p->taken[p->count++] = other->taken;
}

/* Collects the ranges of placed spans that overlap the span in time. */
static void collect(struct place *p, uint32_t span)
{
	const struct gp_span *own = &p->spans->items[span];
	size_t list = p->rank[span] >> p->shift, n = p->spans->count;
	uint32_t rank = (uint32_t)(list << p->shift);

	p->count = 0;
	for (size_t i = p->lists[list]; i < p->lists[list + 1]; i++)
		if (p->ranked[p->live[i]].upper > own->lower)
			add(p, span, p->live[i]);
	for (; rank < n && p->ranked[rank].lower < own->upper; rank++)
		if (p->ranked[rank].upper > own->lower)
			add(p, span, rank);
}

void place_put(struct place *p, uint32_t span, uint64_t offset)
{
	const struct gp_span *own = &p->spans->items[span];
	struct ranked *ranked = &p->ranked[p->rank[span]];

	ranked->upper = own->upper;
	ranked->taken = (struct taken){ offset, offset + own->size };
}

static int by_from(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

#define FEW 12 /* up to this many are sorted by insertion */

static void insert_all(struct taken *taken, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct taken one = taken[i];
		size_t at = i;

		for (; at && taken[at - 1].from > one.from; at--)
			taken[at] = taken[at - 1];
		taken[at] = one;
	}
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c)
{
	if (a < b)
		return b < c ? b : a < c ? c : a;
	return a < c ? a : b < c ? c : b;
}

/* Partitions the ranges by offset; returns the size of the lower part. */
static size_t part(struct taken *taken, size_t count)
{
	uint64_t pivot = middle_of(taken[0].from, taken[count / 2].from,
				   taken[count - 1].from);
	size_t low = 0, high = count - 1;

	for (;; low++, high--) {
		struct taken one;

		while (taken[low].from < pivot)
			low++;
		while (taken[high].from > pivot)
			high--;
		if (low >= high)
			return high + 1;
		one = taken[low];
		taken[low] = taken[high];
		taken[high] = one;
	}
}

/* Walks over sorted ranges: whether the span fits below one of them, at or
 * above *offset. *offset is moved above the ranges passed. */
static bool walk(const struct taken *taken, size_t count,
		 const struct gp_span *span, uint64_t *offset)
{
	for (size_t i = 0; i < count; i++) {
		if (*offset + span->size <= taken[i].from)
			return true;
		if (taken[i].to > *offset)
			*offset = align_up(taken[i].to, span->align);
	}
	return false;
}

/*
 * Finds the lowest place between the ranges in use. Most of the time of a
 * packing is spent here, so this is a quicksort that only sorts the ranges
 * below that place; if partitioning does not halve the rest, qsort takes over.
 * The order of ranges with equal start does not matter.
 */
static bool find(struct taken *taken, size_t count, const struct gp_span *span,
		 uint64_t *offset, unsigned depth)
{
	while (count > FEW && depth--) {
		size_t low = part(taken, count);

		if (find(taken, low, span, offset, depth))
			return true;
		taken += low;
		count -= low;
	}
	if (count > FEW)
		qsort(taken, count, sizeof(*taken), by_from);
	else
		insert_all(taken, count);
	return walk(taken, count, span, offset);
}

/* The number of steps of sorting and walking that many ranges. */
static uint64_t steps(uint64_t count)
{
	uint64_t steps = 16;

	for (uint64_t n = count; n; n /= 2)
		steps += count;
	return steps;
}

bool place_more(struct place *place, const uint32_t *order, size_t count,
		uint64_t *offsets, uint64_t *work, size_t *placed)
{
	for (*placed = 0; *placed < count; ++*placed) {
		uint32_t span = order[*placed];
		uint64_t cost;

		collect(place, span);
		cost = steps(place->count);
		if (cost > *work) {
			*work = 0;
			return false;
		}
		*work -= cost;
		offsets[span] = 0;
		find(place->taken, place->count, &place->spans->items[span],
		     &offsets[span], 64);
		place_put(place, span, offsets[span]);
	}
	return true;
}

bool place_all(struct place *place, const uint32_t *order, uint64_t *offsets,
	       uint64_t *work)
{
	size_t n = place->spans->count, placed;

	for (size_t i = 0; i < n; i++)
		place->ranked[i].upper = 0;
	return place_more(place, order, n, offsets, work, &placed);
}
