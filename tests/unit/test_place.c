/* SPDX-License-Identifier: MIT */
/* Packing in an order: each offset is the lowest free one, as found by a walk
 * over everything placed before, and takes the number of steps that is charged.
 */
#include "study/floor/place.h"

#include <stdlib.h>

#include "random_spans.h"

#define NOWHERE UINT64_MAX
#define LAST	250 /* all spans have ended */

static const struct spans_like likes[] = {
	{ .count = 0, .times = 1, .sizes = 1, .aligns = 1 },
	{ .count = 1, .times = 3, .sizes = 4, .aligns = 4, .gaps = 2 },
	{ .count = 2, .times = 2, .sizes = 2, .aligns = 1, .gaps = 1 },
	{ .count = 5, .times = 4, .sizes = 3, .aligns = 3 },
	{ .count = 9, .times = 9, .sizes = 9, .aligns = 2, .gaps = 2 },
	{ .count = 14, .times = 5, .sizes = 40, .aligns = 1 },
	{ .count = 40, .times = 20, .sizes = 5, .aligns = 4, .gaps = 3 },
	{ .count = 64, .times = 30, .sizes = 50, .aligns = 1 },
	{ .count = 65, .times = 2, .sizes = 3, .aligns = 1 },
	{ .count = 200, .times = 120, .sizes = 900, .aligns = 8, .gaps = 1 },
};

/* Nearly all are in use at once, so lists of the live spans are of little
 * use. */
static const struct spans_like large = {
	.count = 800, .times = 100, .sizes = 1000, .aligns = 1
};

/* ---- in order of time ---- */

/* The lowest offset at which a span of that size overlaps nothing. */
static uint64_t lowest(const struct gp_spans *spans, const uint64_t *offsets,
		       const bool *is_there, const struct gp_span *span)
{
	uint64_t best = NOWHERE;

	for (size_t i = 0; i <= spans->count; i++) {
		uint64_t at = 0;
		bool is_free = true;

		if (i < spans->count && !is_there[i])
			continue;
		if (i < spans->count)
			at = align_up(offsets[i] + spans->items[i].size,
				      span->align);
		if (at >= best)
			continue;
		for (size_t k = 0; k < spans->count && is_free; k++)
			is_free = !is_there[k] ||
				  at + span->size <= offsets[k] ||
				  at >= offsets[k] + spans->items[k].size;
		if (is_free)
			best = at;
	}
	return best;
}

struct heap_walk {
	const struct gp_spans *spans;
	uint64_t below;
	bool is_there[MOST_RANDOM_SPANS];
	uint64_t offsets[MOST_RANDOM_SPANS];
};

static void come(struct heap_walk *w, size_t i)
{
	struct gp_span span = w->spans->items[i];

	span.align = 1;
	if (span.size >= w->below)
		return;
	w->offsets[i] = lowest(w->spans, w->offsets, w->is_there, &span);
	w->is_there[i] = true;
}

/* A span that ends makes room for one that begins at that time; backward, the
 * other way round, and the last spans come first. */
static void walk_time(struct heap_walk *w, enum heap_direction direction)
{
	const struct gp_span *items = w->spans->items;
	size_t n = w->spans->count, i;

	for (uint64_t t = 0; t <= LAST; t++) {
		uint64_t time = direction == HEAP_FORWARD ? t : LAST - t;

		for (i = 0; i < n; i++)
			if ((direction == HEAP_FORWARD
				     ? items[i].upper
				     : items[i].lower) == time)
				w->is_there[i] = false;
		for (i = 0; direction == HEAP_FORWARD && i < n; i++)
			if (items[i].lower == time)
				come(w, i);
		for (i = n; direction == HEAP_BACKWARD && i-- > 0;)
			if (items[i].upper == time)
				come(w, i);
	}
}

static void compare_heap(const struct gp_spans *spans, uint64_t below,
			 enum heap_direction direction)
{
	static struct heap_walk w;
	uint64_t offsets[MOST_RANDOM_SPANS], height, top = 0;
	struct moment *moments;
	size_t count = spans_moments(spans, false, &moments);

	w = (struct heap_walk){ .spans = spans, .below = below };
	for (size_t i = 0; i < spans->count; i++)
		offsets[i] = w.offsets[i] = NOWHERE;
	walk_time(&w, direction);
	height = heap_pack(spans, moments, count, direction, below, offsets);
	for (size_t i = 0; i < spans->count; i++) {
		ck_assert_uint_eq(offsets[i], w.offsets[i]);
		if (offsets[i] != NOWHERE &&
		    offsets[i] + spans->items[i].size > top)
			top = offsets[i] + spans->items[i].size;
	}
	ck_assert_uint_eq(height, top);
	free(moments);
}

START_TEST(a_heap_takes_the_lowest_range_that_is_free_then)
{
	static const uint64_t belows[] = { 0, 1, 2, 3, 30, UINT64_MAX };
	uint64_t seed = 1;

	for (size_t i = 0; i < 20 * COUNT_OF(likes); i++) {
		struct gp_spans spans =
			spans_like(&likes[i % COUNT_OF(likes)], &seed);
		uint64_t below = belows[i / COUNT_OF(likes) % COUNT_OF(belows)];

		compare_heap(&spans, below, HEAP_FORWARD);
		compare_heap(&spans, below, HEAP_BACKWARD);
	}
}
END_TEST

/* ---- in a given order ---- */

static void shuffle(uint32_t *order, size_t count, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		size_t k = next_random(seed) % (i + 1);

		order[i] = order[k];
		order[k] = (uint32_t)i;
	}
}

/* The steps that place.c charges for sorting the neighbours and walking along
 * them. */
static uint64_t steps_of(uint64_t others)
{
	uint64_t steps = 16;

	for (uint64_t n = others; n; n /= 2)
		steps += others;
	return steps;
}

/* The results of place_all(); returns its steps. */
static uint64_t put_each(const struct gp_spans *spans, const uint32_t *order,
			 uint64_t *offsets)
{
	static bool is_there[MOST_RANDOM_SPANS];
	uint64_t steps = 0;

	for (size_t i = 0; i < spans->count; i++) {
		uint64_t others = 0;

		for (uint32_t k = 0; k < spans->count; k++)
			is_there[k] = false;
		for (size_t k = 0; k < i; k++)
			others += is_there[order[k]] =
				spans_meet(spans, order[i], order[k]);
		offsets[order[i]] = lowest(spans, offsets, is_there,
					   &spans->items[order[i]]);
		steps += steps_of(others);
	}
	return steps;
}

static void compare_order(const struct gp_spans *spans, struct place *place,
			  const uint32_t *order)
{
	uint64_t offsets[MOST_RANDOM_SPANS], plain[MOST_RANDOM_SPANS];
	uint64_t steps = put_each(spans, order, plain), work = steps;
	size_t placed;

	ck_assert(place_all(place, order, offsets, &work));
	ck_assert_uint_eq(work, 0);
	for (size_t i = 0; i < spans->count; i++)
		ck_assert_uint_eq(offsets[i], plain[i]);
	if (!spans->count)
		return;
	/* With one step less, one span is not placed. */
	work = steps - 1;
	ck_assert(!place_all(place, order, offsets, &work));
	ck_assert_uint_eq(work, 0);
	/* The first half is fixed; the other half is placed around it. */
	work = UINT64_MAX;
	place = place_create(spans);
	for (size_t i = 0; i < spans->count / 2; i++)
		place_put(place, order[i], plain[order[i]]);
	ck_assert(place_more(place, order + spans->count / 2,
			     spans->count - spans->count / 2, offsets, &work,
			     &placed));
	ck_assert_uint_eq(placed, spans->count - spans->count / 2);
	for (size_t i = spans->count / 2; i < spans->count; i++)
		ck_assert_uint_eq(offsets[order[i]], plain[order[i]]);
	place_destroy(place);
}

START_TEST(each_in_turn_gets_the_lowest_place)
{
	uint64_t seed = 2;

	for (size_t i = 0; i < 15 * COUNT_OF(likes); i++) {
		struct gp_spans spans =
			spans_like(&likes[i % COUNT_OF(likes)], &seed);
		struct place *place = place_create(&spans);
		uint32_t order[MOST_RANDOM_SPANS];

		for (int times = 0; times < 2; times++) {
			shuffle(order, spans.count, &seed);
			compare_order(&spans, place, order);
		}
		place_destroy(place);
	}
}
END_TEST

START_TEST(so_it_is_where_nearly_all_are_in_use)
{
	uint64_t seed = 3;
	struct gp_spans spans = spans_like(&large, &seed);
	struct place *place = place_create(&spans);
	uint32_t order[MOST_RANDOM_SPANS];

	shuffle(order, spans.count, &seed);
	compare_order(&spans, place, order);
	place_destroy(place);
}
END_TEST

START_TEST(without_steps_it_stops_at_the_first_too_many)
{
	uint64_t seed = 4;
	struct gp_spans spans = spans_like(&likes[6], &seed);
	uint64_t offsets[MOST_RANDOM_SPANS], plain[MOST_RANDOM_SPANS];
	uint32_t order[MOST_RANDOM_SPANS];

	shuffle(order, spans.count, &seed);
	put_each(&spans, order, plain);
	for (uint64_t most = 0; most < 1000; most++) {
		struct place *place = place_create(&spans);
		uint64_t work = most, left = most;
		size_t placed, fits = 0;

		while (fits < spans.count) {
			uint64_t others = 0;

			for (size_t k = 0; k < fits; k++)
				others += spans_meet(&spans, order[fits],
						     order[k]);
			if (steps_of(others) > left)
				break;
			left -= steps_of(others);
			fits++;
		}
		ck_assert_int_eq(place_more(place, order, spans.count, offsets,
					    &work, &placed),
				 fits == spans.count);
		ck_assert_uint_eq(placed, fits);
		for (size_t i = 0; i < fits; i++)
			ck_assert_uint_eq(offsets[order[i]], plain[order[i]]);
		place_destroy(place);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_heap_takes_the_lowest_range_that_is_free_then, 0 },
		{ each_in_turn_gets_the_lowest_place, 0 },
		{ so_it_is_where_nearly_all_are_in_use, 0 },
		{ without_steps_it_stops_at_the_first_too_many, 0 },
	};

	return suite_run("place", tests, COUNT_OF(tests));
}
