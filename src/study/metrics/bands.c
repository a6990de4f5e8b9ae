/* SPDX-License-Identifier: MIT */
/* Blocks as bands over time. */
#include "study/metrics/bands.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"

/* ---- columns ---- */

/* The first moment that a column covers. */
static uint64_t column_start(const struct gp_bands *bands, size_t column)
{
	uint64_t width = bands->to - bands->from, n = bands->column_count;

	return bands->from + width / n * column + width % n * column / n;
}

static void fill_column(struct gp_band_column *column, uint64_t end,
			const struct gp_lifetimes *lifetimes)
{
	column->moment = column->from;
	for (uint64_t m = column->from; m < end; m++) {
		if (lifetimes->allocated[m] >
		    lifetimes->allocated[column->moment])
			column->moment = m;
		column->reserved =
			gp_larger(column->reserved, lifetimes->reserved[m]);
	}
	column->allocated = lifetimes->allocated[column->moment];
}

static void make_columns(struct gp_bands *bands,
			 const struct gp_lifetimes *lifetimes)
{
	size_t n = bands->column_count;

	bands->columns = gp_mem_alloc(n, sizeof(*bands->columns));
	for (size_t i = 0; i < n; i++)
		bands->columns[i].from = column_start(bands, i);
	for (size_t i = 0; i < n; i++)
		fill_column(&bands->columns[i],
			    i + 1 < n ? bands->columns[i + 1].from : bands->to,
			    lifetimes);
}

/* The first column from `near` on that shows that moment or a later one; a
 * linear search, because most blocks have short lifetimes. */
static size_t column_from(const struct gp_bands *bands, size_t near,
			  uint64_t moment)
{
	size_t low = near, high, step = 1;

	while (low + step < bands->column_count &&
	       bands->columns[low + step].moment < moment) {
		low += step;
		step *= 2;
	}
	high = gp_smaller(low + step, bands->column_count);
	return low + gp_sorted_from(GP_SORTED(bands->columns + low, high - low,
					      struct gp_band_column, moment),
				    moment);
}

/* ---- visible blocks ---- */

/* A block that is in at least one column, and the sum of its bytes over all
 * columns. */
struct seen {
	struct gp_band band;
	uint64_t area;
};

/* Computes a block's columns; false: no column shows it. first: the first
 * column that shows the moment of its alloc or a later one. */
static bool see(const struct gp_bands *bands,
		const struct gp_lifetimes *lifetimes, uint32_t index,
		size_t first, struct seen *seen)
{
	const struct gp_lifetime *lifetime = &lifetimes->list[index];
	size_t end;

	if (first >= bands->column_count ||
	    bands->columns[first].moment >= lifetime->freed)
		return false;
	end = lifetime->freed >= bands->to
		      ? bands->column_count
		      : column_from(bands, first, lifetime->freed);
	seen->band =
		(struct gp_band){ index, (uint32_t)first, (uint32_t)end - 1 };
	if (__builtin_mul_overflow(lifetime->size, end - first, &seen->area))
		seen->area = UINT64_MAX;
	return true;
}

/* Whether a deserves a band of its own less than b does. */
static bool is_less(const struct seen *a, const struct seen *b)
{
	if (a->area != b->area)
		return a->area < b->area;
	return a->band.lifetime > b->band.lifetime;
}

/* ---- the largest blocks: a heap with the smallest one on top ---- */

struct heap {
	struct seen *items;
	size_t count, room;
};

static void sink(struct heap *heap, struct seen item)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    is_less(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!is_less(&heap->items[child], &item))
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = item;
}

static void rise(struct heap *heap, struct seen item)
{
	size_t at = heap->count++;

	while (at && is_less(&item, &heap->items[(at - 1) / 2])) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = item;
}

/* ---- the rest: the change from each column to the next ---- */

static void add_rest(struct gp_bands *bands,
		     const struct gp_lifetimes *lifetimes,
		     const struct gp_band *band)
{
	uint64_t size = lifetimes->list[band->lifetime].size;

	bands->columns[band->first].rest += size;
	bands->columns[band->first].rest_blocks++;
	if (band->last + 1 < bands->column_count) {
		bands->columns[band->last + 1].rest -= size;
		bands->columns[band->last + 1].rest_blocks--;
	}
}

static void offer(struct gp_bands *bands, const struct gp_lifetimes *lifetimes,
		  struct heap *heap, const struct seen *seen)
{
	bands->blocks++;
	if (heap->count < heap->room) {
		rise(heap, *seen);
	} else if (heap->room && is_less(&heap->items[0], seen)) {
		add_rest(bands, lifetimes, &heap->items[0].band);
		sink(heap, *seen);
	} else {
		add_rest(bands, lifetimes, &seen->band);
	}
}

static void add_up_rest(struct gp_bands *bands)
{
	for (size_t i = 1; i < bands->column_count; i++) {
		bands->columns[i].rest += bands->columns[i - 1].rest;
		bands->columns[i].rest_blocks +=
			bands->columns[i - 1].rest_blocks;
	}
}

static int by_age(const void *a, const void *b)
{
	const struct gp_band *x = a, *y = b;

	return x->lifetime < y->lifetime ? -1 : x->lifetime > y->lifetime;
}

/* Moves the items of the heap into the list, in order of alloc. */
static void take(struct gp_bands *bands, const struct heap *heap)
{
	bands->count = heap->count;
	bands->list = gp_mem_alloc(heap->count, sizeof(*bands->list));
	for (size_t i = 0; i < heap->count; i++)
		bands->list[i] = heap->items[i].band;
	if (bands->count)
		qsort(bands->list, bands->count, sizeof(*bands->list), by_age);
}

void gp_bands_init(struct gp_bands *bands, const struct gp_lifetimes *lifetimes,
		   const struct gp_bands_window *window)
{
	uint64_t from = gp_smaller(window->from, lifetimes->moments - 1);
	uint64_t to = window->to > from
			      ? gp_smaller(window->to, lifetimes->moments)
			      : lifetimes->moments;
	size_t wanted = window->columns ? window->columns : 1;
	struct heap heap = { .room = gp_smaller(window->most, GP_BANDS_MOST) };
	size_t count, first = 0;
	struct seen seen;

	*bands = (struct gp_bands){ .from = from, .to = to };
	bands->column_count =
		gp_smaller(gp_smaller(wanted, GP_BANDS_COLUMNS), to - from);
	make_columns(bands, lifetimes);
	count = gp_lifetimes_until(lifetimes, to - 1);
	heap.room = gp_smaller(heap.room, count);
	heap.items = gp_mem_alloc(heap.room, sizeof(*heap.items));
	for (size_t i = 0; i < count; i++) {
		first = column_from(bands, first, lifetimes->list[i].alloc);
		if (see(bands, lifetimes, (uint32_t)i, first, &seen))
			offer(bands, lifetimes, &heap, &seen);
	}
	add_up_rest(bands);
	take(bands, &heap);
	free(heap.items);
}

void gp_bands_release(struct gp_bands *bands)
{
	free(bands->columns);
	free(bands->list);
	*bands = (struct gp_bands){ 0 };
}

/* ---- ranks of culprits, for all windows ---- */

struct weight {
	double byte_events;
	uint32_t culprit;
};

static int by_weight(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->byte_events != y->byte_events)
		return x->byte_events > y->byte_events ? -1 : 1;
	return x->culprit < y->culprit ? -1 : x->culprit > y->culprit;
}

uint32_t *gp_bands_ranks(const struct gp_lifetimes *lifetimes,
			 const struct askers *askers)
{
	size_t n = askers->culprit_count;
	struct weight *weights = gp_mem_alloc(n, sizeof(*weights));
	uint32_t *ranks = gp_mem_alloc(n, sizeof(*ranks));

	for (uint32_t i = 0; i < n; i++)
		weights[i].culprit = i;
	for (size_t i = 0; i < lifetimes->count; i++) {
		const struct gp_lifetime *lifetime = &lifetimes->list[i];
		uint64_t end = gp_smaller(lifetime->freed, lifetimes->moments);

		weights[askers->list[lifetime->id].culprit].byte_events +=
			(double)lifetime->size *
			(double)(end - lifetime->alloc);
	}
	qsort(weights, n, sizeof(*weights), by_weight);
	for (uint32_t i = 0; i < n; i++)
		ranks[weights[i].culprit] = i;
	free(weights);
	return ranks;
}
