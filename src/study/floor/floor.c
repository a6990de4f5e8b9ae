/* SPDX-License-Identifier: MIT */
/*
 * The floor: a packing, by the methods that the work permits.
 *
 *     1. In order of time, forward and backward (place.h): O(n log n).
 *     2. In orders of size, area, lifetime and start (place.h): steps for
 *        each pair of spans that are in use together. If there are too many
 *        pairs, small spans are packed as in 1, below the others.
 *     3. The spans that make the best of these high are placed earlier,
 *        repeatedly.
 *     4. Search (search.h), first for a packing as low as the bound, then
 *        between that and the best one.
 *
 * Each method is limited in steps, not time, so the result is the same on every
 * machine.
 */
#include "study/floor/floor.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/floor/place.h"
#include "study/floor/search.h"
#include "study/floor/spans.h"

#define SEARCH_MOST (UINT64_C(1) << 24) /* most entries of a graph */

struct attempt {
	const struct gp_floor_config *config;
	const struct gp_spans *spans;
	struct gp_floor *floor;
	uint64_t *offsets; /* of the packing in progress */
	uint64_t target;   /* height that is good enough */
	uint64_t work;	   /* steps left */
	bool proves;	   /* what the search does not find is impossible */
};

static const char *const method_names[GP_FLOOR_METHODS] = {
	[GP_FLOOR_IN_TIME] = "in the order of time",
	[GP_FLOOR_IN_ORDER] = "in an order of size, area or time",
	[GP_FLOOR_IMPROVED] = "in an order that was improved",
	[GP_FLOOR_SEARCHED] = "by search",
};

const char *gp_floor_method_name(enum gp_floor_method method)
{
	return method_names[method];
}

static bool is_done(const struct attempt *a)
{
	return a->floor->height <= a->target;
}

/* Keeps the packing in progress if it is better. */
static bool keep(struct attempt *a, enum gp_floor_method method)
{
	uint64_t height = spans_top(a->spans, a->offsets);

	if (height >= a->floor->height)
		return false;
	memcpy(a->floor->offsets, a->offsets,
	       a->spans->count * sizeof(*a->offsets));
	a->floor->height = height;
	a->floor->method = method;
	return true;
}

/* ---- 1: in order of time ---- */

/* Whether all sizes are multiples of the largest alignment. */
static bool is_even(const struct gp_spans *spans)
{
	uint64_t align = 1;

	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].align > align)
			align = spans->items[i].align;
	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].size % align ||
		    align % spans->items[i].align)
			return false;
	return true;
}

static void pack_in_time(struct attempt *a, const struct moment *moments,
			 size_t count)
{
	for (int d = HEAP_FORWARD; d <= HEAP_BACKWARD && !is_done(a); d++) {
		heap_pack(a->spans, moments, count, (enum heap_direction)d,
			  UINT64_MAX, a->offsets);
		keep(a, GP_FLOOR_IN_TIME);
	}
}

/* ---- 2 and 3: in a given order ---- */

enum order {
	ORDER_SIZE,  /* largest first */
	ORDER_AREA,  /* size x lifetime */
	ORDER_TIME,  /* longest lifetime first */
	ORDER_CLASS, /* by power of two of the size, then by lifetime */
	ORDER_START, /* earliest first */
	ORDERS,
};

/* Larger keys first. */
struct keyed {
	uint64_t key[2];
	uint32_t span;
};

static int by_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] > y->key[i] ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

/* The power of two at or below a size. */
static int size_class(uint64_t size)
{
	return size ? 63 - __builtin_clzll(size) : 0;
}

/* size * time, saturated to 64 bits. */
static uint64_t area_of(uint64_t size, uint64_t time)
{
	uint64_t area;

	return __builtin_mul_overflow(size, time, &area) ? UINT64_MAX : area;
}

static struct keyed key_of(const struct gp_span *span, enum order by)
{
	uint64_t size = span->size, time = span->upper - span->lower;

	switch (by) {
	case ORDER_AREA:
		return (struct keyed){ .key = { area_of(size, time), size } };
	case ORDER_TIME: return (struct keyed){ .key = { time, size } };
	case ORDER_CLASS:
		return (struct keyed){ .key = { (uint64_t)size_class(size),
						time } };
	case ORDER_START:
		return (struct keyed){ .key = { UINT64_MAX - span->lower,
						size } };
	default: return (struct keyed){ .key = { size, time } };
	}
}

/* Writes the indices of all spans to `order`. */
static void sort_spans(const struct gp_spans *spans, enum order by,
		       uint32_t *order)
{
	struct keyed *list = gp_mem_alloc(spans->count, sizeof(*list));

	for (uint32_t i = 0; i < spans->count; i++) {
		list[i] = key_of(&spans->items[i], by);
		list[i].span = i;
	}
	qsort(list, spans->count, sizeof(*list), by_keys);
	for (uint32_t i = 0; i < spans->count; i++)
		order[i] = list[i].span;
	free(list);
}

/* An order that is adapted: spans that end too high are moved forward, to half
 * their position each time (D. Joslin, D. Clements, "Squeaky wheel
 * optimization", 1999). */
struct push {
	const struct gp_spans *spans;
	uint32_t *order;
	struct pushed {
		uint32_t position; /* new position, before sorting */
		uint32_t before;   /* previous position */
		uint32_t span;
	} * list;
};

static struct push *push_create(const struct gp_spans *spans,
				const uint32_t *order)
{
	struct push *push = gp_mem_alloc(1, sizeof(*push));

	push->spans = spans;
	push->order = gp_mem_alloc(spans->count, sizeof(*push->order));
	push->list = gp_mem_alloc(spans->count, sizeof(*push->list));
	for (size_t i = 0; i < spans->count; i++)
		push->order[i] = order[i];
	return push;
}

static void push_destroy(struct push *push)
{
	free(push->order);
	free(push->list);
	free(push);
}

static int by_position(const void *a, const void *b)
{
	const struct pushed *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return (x->before > y->before) - (x->before < y->before);
}

/* Moves the spans that end above limit forward. */
static void push_earlier(struct push *push, const uint64_t *offsets,
			 uint64_t limit)
{
	for (uint32_t i = 0; i < push->spans->count; i++) {
		uint32_t span = push->order[i];
		uint64_t top = offsets[span] + push->spans->items[span].size;

		push->list[i] =
			(struct pushed){ top > limit ? i / 2 : i, i, span };
	}
	qsort(push->list, push->spans->count, sizeof(*push->list), by_position);
	for (uint32_t i = 0; i < push->spans->count; i++)
		push->order[i] = push->list[i].span;
}

static bool try_order(struct attempt *a, struct place *place,
		      const uint32_t *order, uint64_t *work,
		      enum gp_floor_method method)
{
	return place_all(place, order, a->offsets, work) && keep(a, method);
}

static void pack_in_order(struct attempt *a, struct place *place,
			  uint32_t *best, uint64_t *work)
{
	uint32_t *order = gp_mem_alloc(a->spans->count, sizeof(*order));

	for (int i = 0; i < ORDERS && !is_done(a) && *work; i++) {
		sort_spans(a->spans, (enum order)i, order);
		if (try_order(a, place, order, work, GP_FLOOR_IN_ORDER) || !i)
			memcpy(best, order, a->spans->count * sizeof(*order));
	}
	free(order);
}

#define PATIENCE 60 /* orders without an improvement before it stops */

static void improve(struct attempt *a, struct place *place, uint32_t *order,
		    uint64_t *work)
{
	struct push *push = push_create(a->spans, order);
	int left = PATIENCE;

	while (left-- && !is_done(a) && *work) {
		if (!place_all(place, push->order, a->offsets, work))
			break;
		if (keep(a, GP_FLOOR_IMPROVED))
			left = PATIENCE;
		push_earlier(push, a->offsets,
			     a->target + (a->floor->height - a->target) / 2);
	}
	push_destroy(push);
}

/* ---- 4: search ---- */

/* The unit of which all offsets and heights are multiples. */
static uint64_t grain_of(const struct gp_spans *spans)
{
	uint64_t grain = 0;

	for (size_t i = 0; i < spans->count; i++) {
		grain = gp_common_divisor(spans->items[i].size, grain);
		if (spans->items[i].align > 1)
			grain = gp_common_divisor(spans->items[i].align, grain);
	}
	return grain ? grain : 1;
}

static enum search_end search(struct attempt *a, const struct graph *graph,
			      uint64_t capacity, uint64_t work)
{
	uint64_t left = work;
	enum search_end end = search_fit(graph, capacity, &left, a->offsets);

	a->work -= work - left;
	if (end == SEARCH_FOUND)
		keep(a, GP_FLOOR_SEARCHED);
	return end;
}

/*
 * Heights up to `no` are proven impossible, for those up to `hard` the search
 * gave up. Tries the target first, then halves the interval up to the best
 * packing.
 */
static void search_lower(struct attempt *a, const struct graph *graph)
{
	uint64_t grain = grain_of(a->spans), capacity = a->target;
	uint64_t no = a->floor->bound - grain, hard = no;

	while (!is_done(a) && a->work) {
		uint64_t share = a->work / 2 + 1;
		enum search_end end = search(a, graph, capacity, share);

		if (end == SEARCH_NONE)
			no = capacity;
		if (end == SEARCH_NONE && capacity == a->config->capacity &&
		    a->proves)
			a->floor->is_impossible = true;
		if (end != SEARCH_FOUND)
			hard = capacity;
		if (a->floor->height - hard <= grain || share < 1000)
			break;
		capacity = hard + (a->floor->height - hard) / 2;
		capacity -= capacity % grain;
	}
	if (a->floor->height - no <= grain && a->proves)
		a->floor->is_least = true;
}

static void pack_by_search(struct attempt *a)
{
	struct graph graph;

	if (is_done(a) || !a->work || !a->spans->count ||
	    !graph_make(&graph, a->spans, SEARCH_MOST))
		return;
	search_lower(a, &graph);
	graph_release(&graph);
}

/* ---- all methods ---- */

/* One order may use this fraction of the steps. */
#define ORDER_SHARE 4
#define PAIR_STEPS  12 /* steps of sorting and walking, per pair */

/*
 * The size below which spans are packed in order of time, so that the others
 * have few enough pairs in use together: 0, or a power of two.
 */
static uint64_t small_size(const struct attempt *a,
			   const struct moment *moments, size_t count)
{
	uint64_t pairs[64] = { 0 }, live[64] = { 0 };
	int class = 0;

	for (size_t i = 0; i < count; i++) {
		int c = size_class(a->spans->items[moments[i].span].size);
		uint64_t now = 0;

		if (moments[i].kind == ENDS) {
			live[c]--;
			continue;
		}
		for (int k = 63; k >= 0; k--) {
			now += live[k];
			if (k <= c)
				pairs[k] += now + 1;
		}
		live[c]++;
	}
	while (class < 63 && pairs[class] > a->work / ORDER_SHARE / PAIR_STEPS)
		class ++;
	return class && pairs[class] < pairs[0] ? UINT64_C(1) << class : 0;
}

/* Methods 2 to 4, for the large spans. */
static void pack_large(struct attempt *a)
{
	struct place *place = place_create(a->spans);
	uint32_t *best = gp_mem_alloc(a->spans->count, sizeof(*best));
	uint64_t work = a->work / 2;

	a->work -= work;
	pack_in_order(a, place, best, &work);
	improve(a, place, best, &work);
	a->work += work;
	free(best);
	place_destroy(place);
	pack_by_search(a);
}

/* Method 1 in the better of both directions; returns the height. */
static uint64_t pack_small(struct attempt *a, const struct moment *moments,
			   size_t count, uint64_t below)
{
	size_t bytes = a->spans->count * sizeof(*a->offsets);
	uint64_t *backward = gp_mem_alloc(a->spans->count, sizeof(*backward));
	uint64_t one, other;

	one = heap_pack(a->spans, moments, count, HEAP_FORWARD, below,
			a->offsets);
	other = heap_pack(a->spans, moments, count, HEAP_BACKWARD, below,
			  backward);
	if (other < one)
		memcpy(a->offsets, backward, bytes);
	free(backward);
	return other < one ? other : one;
}

/* Copies the spans of at least that size; map has their original indices. */
static void pick_large(const struct gp_spans *spans, uint64_t size,
		       struct gp_spans *large, uint32_t *map)
{
	*large = *spans;
	large->items = gp_mem_alloc(spans->count, sizeof(*large->items));
	large->count = 0;
	for (uint32_t i = 0; i < spans->count; i++) {
		if (spans->items[i].size < size)
			continue;
		map[large->count] = i;
		large->items[large->count++] = spans->items[i];
	}
}

/* Packs small spans at the bottom, and the others above them. */
static void pack_apart(struct attempt *a, const struct moment *moments,
		       size_t count, uint64_t size)
{
	size_t n = a->spans->count + 1;
	uint32_t *map = gp_mem_alloc(n, sizeof(*map));
	uint64_t time, bottom = pack_small(a, moments, count, size);
	struct gp_floor floor = { .height = UINT64_MAX };
	struct attempt sub = *a;
	struct gp_spans large;

	pick_large(a->spans, size, &large, map);
	sub.spans = &large;
	sub.floor = &floor;
	floor.offsets = gp_mem_alloc(n, sizeof(*floor.offsets));
	sub.offsets = gp_mem_alloc(n, sizeof(*sub.offsets));
	floor.bound = gp_floor_bound(&large, &time);
	sub.target = floor.bound;
	if (a->target > bottom && a->target - bottom > sub.target)
		sub.target = a->target - bottom;
	pack_large(&sub);
	for (size_t i = 0; i < large.count; i++)
		a->offsets[map[i]] = align_up(bottom, large.items[i].align) +
				     floor.offsets[i];
	a->work = sub.work;
	if (floor.height != UINT64_MAX)
		keep(a, floor.method);
	free(sub.offsets);
	free(floor.offsets);
	free(large.items);
	free(map);
}

static void pack(struct attempt *a)
{
	struct moment *moments;
	size_t count = spans_moments(a->spans, false, &moments);
	uint64_t small = 0;

	if (is_even(a->spans)) {
		pack_in_time(a, moments, count);
		if (!is_done(a))
			small = small_size(a, moments, count);
	}
	if (small)
		pack_apart(a, moments, count, small);
	else if (!is_done(a))
		pack_large(a);
	free(moments);
}

/* Stacks all spans, which needs no steps. */
static void stack_all(struct attempt *a)
{
	uint64_t top = 0;

	for (size_t i = 0; i < a->spans->count; i++) {
		a->offsets[i] = align_up(top, a->spans->items[i].align);
		top = a->offsets[i] + a->spans->items[i].size;
	}
	keep(a, GP_FLOOR_IN_TIME);
}

void gp_floor_find(const struct gp_floor_config *config, struct gp_floor *floor)
{
	uint64_t work = config->work ? config->work : GP_FLOOR_WORK;
	size_t count = config->spans->count;
	struct attempt a = { .config = config,
			     .spans = config->spans,
			     .floor = floor,
			     .work = work,
			     .proves = !gp_spans_have_windows(config->spans) };

	*floor = (struct gp_floor){ .height = UINT64_MAX };
	floor->bound = gp_floor_bound(config->spans, &floor->bound_time);
	floor->offsets = gp_mem_alloc(count + 1, sizeof(*floor->offsets));
	a.offsets = gp_mem_alloc(count + 1, sizeof(*a.offsets));
	a.target = config->capacity > floor->bound ? config->capacity
						   : floor->bound;
	if (!is_done(&a))
		stack_all(&a);
	if (!is_done(&a))
		pack(&a);
	floor->is_least |= floor->height == floor->bound;
	floor->is_impossible |=
		config->capacity && config->capacity < floor->bound;
	floor->work = work - a.work;
	free(a.offsets);
}

void gp_floor_release(struct gp_floor *floor)
{
	free(floor->offsets);
	*floor = (struct gp_floor){ 0 };
}
