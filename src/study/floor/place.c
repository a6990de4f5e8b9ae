/* SPDX-License-Identifier: MIT */
/* Placing in an order. */
#include "study/floor/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/floor/spans.h"

/* Bytes that are taken. */
struct taken {
	uint64_t from, to;
};

/*
 * Spans by their lower time are the leaves of a tree; a node knows the latest
 * end of the spans below it that have a place.  So those that meet another are
 * found without looking at the rest.
 */
struct place {
	const struct gp_spans *spans;
	uint32_t *leaf;	    /* of a span */
	uint32_t *by_lower; /* of a leaf: the span */
	uint32_t leaves;    /* a power of two */
	uint64_t *latest;   /* of a node; 1 is the root */
	struct taken *taken;
	size_t count, room;
};

static int by_lower(const void *a, const void *b, void *spans)
{
	const struct gp_span *items = ((const struct gp_spans *)spans)->items;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (items[x].lower != items[y].lower)
		return items[x].lower < items[y].lower ? -1 : 1;
	return (x > y) - (x < y);
}

struct place *place_create(const struct gp_spans *spans)
{
	struct place *p = gp_mem_alloc(1, sizeof(*p));
	size_t n = spans->count;

	p->spans = spans;
	p->leaves = 1;
	while (p->leaves < n)
		p->leaves *= 2;
	p->leaf = gp_mem_alloc(n + 1, sizeof(*p->leaf));
	p->by_lower = gp_mem_alloc(n + 1, sizeof(*p->by_lower));
	p->latest = gp_mem_alloc(2 * (size_t)p->leaves, sizeof(*p->latest));
	for (uint32_t i = 0; i < n; i++)
		p->by_lower[i] = i;
	qsort_r(p->by_lower, n, sizeof(*p->by_lower), by_lower, (void *)spans);
	for (uint32_t i = 0; i < n; i++)
		p->leaf[p->by_lower[i]] = i;
	return p;
}

void place_destroy(struct place *place)
{
	if (!place)
		return;
	free(place->leaf);
	free(place->by_lower);
	free(place->latest);
	free(place->taken);
	free(place);
}

/* ---- what is in the way ---- */

static void take(struct place *p, uint32_t span)
{
	uint64_t upper = p->spans->items[span].upper;

	for (uint32_t i = p->leaves + p->leaf[span]; i; i /= 2)
		if (p->latest[i] < upper)
			p->latest[i] = upper;
}

static void add(struct place *p, uint32_t span, uint32_t other,
		const uint64_t *offsets)
{
	const struct gp_spans *spans = p->spans;

	if (spans->gap_count && !spans_meet(spans, span, other))
		return;
	p->taken = gp_mem_grow(p->taken, &p->room, p->count + 1,
			       sizeof(*p->taken));
	p->taken[p->count++] =
		(struct taken){ offsets[other],
				offsets[other] + spans->items[other].size };
}

/* Below node, which is over leaves from first on, width of them. */
static void collect(struct place *p, uint32_t span, uint32_t node,
		    uint32_t first, uint32_t width, const uint64_t *offsets)
{
	const struct gp_span *items = p->spans->items;

	if (p->latest[node] <= items[span].lower || first >= p->spans->count ||
	    items[p->by_lower[first]].lower >= items[span].upper)
		return;
	if (width == 1) {
		add(p, span, p->by_lower[first], offsets);
		return;
	}
	width /= 2;
	collect(p, span, 2 * node, first, width, offsets);
	collect(p, span, 2 * node + 1, first + width, width, offsets);
}

static int by_from(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

#define FEW 12 /* are sorted by insertion */

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

/*
 * Most of the time of a packing goes into this, so it is a quicksort, without
 * calls; where that does not halve what is left, qsort takes over.  Which of
 * those that begin together comes first does not matter.
 */
static void sort(struct taken *taken, size_t count, unsigned depth)
{
	while (count > FEW && depth--) {
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
				break;
			one = taken[low];
			taken[low] = taken[high];
			taken[high] = one;
		}
		high++;
		sort(taken + high, count - high, depth);
		count = high;
	}
	if (count > FEW)
		qsort(taken, count, sizeof(*taken), by_from);
	else
		insert_all(taken, count);
}

/* The lowest place between what is taken. */
static uint64_t find(const struct place *p, const struct gp_span *span)
{
	uint64_t offset = 0;

	sort(p->taken, p->count, 64);
	for (size_t i = 0; i < p->count; i++) {
		const struct taken *taken = &p->taken[i];

		if (offset + span->size <= taken->from)
			break;
		if (taken->to > offset)
			offset = align_up(taken->to, span->align);
	}
	return offset;
}

/* What sorting and walking so many takes. */
static uint64_t steps(uint64_t count)
{
	uint64_t steps = 16;

	for (uint64_t n = count; n; n /= 2)
		steps += count;
	return steps;
}

bool place_all(struct place *place, const uint32_t *order, uint64_t *offsets,
	       uint64_t *work)
{
	memset(place->latest, 0,
	       2 * (size_t)place->leaves * sizeof(*place->latest));
	for (size_t i = 0; i < place->spans->count; i++) {
		uint32_t span = order[i];
		uint64_t cost;

		place->count = 0;
		collect(place, span, 1, 0, place->leaves, offsets);
		cost = steps(place->count);
		if (cost > *work) {
			*work = 0;
			return false;
		}
		*work -= cost;
		offsets[span] = find(place, &place->spans->items[span]);
		take(place, span);
	}
	return true;
}
