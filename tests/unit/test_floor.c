/* SPDX-License-Identifier: MIT */
/* Packings: without overlaps, no lower than the bound, and as low as possible
 * if there are few enough spans to try every way. */
#include "study/floor/floor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "gpupool/allocator.h"
#include "study/floor/place.h"
#include "study/floor/search.h"
#include "study/floor/spans.h"
#include "span_use.h"
#include "suite.h"
#include "trace_text.h"

#define MOST 2000

static struct gp_spans random_spans(uint64_t *seed, size_t count,
				    uint64_t times, uint64_t sizes)
{
	static struct gp_span items[MOST + 1];
	struct gp_spans spans = { .items = items, .count = count };

	/* behind the end, so none */
	items[count] = (struct gp_span){ .upper = UINT64_MAX, .size = 1 };
	for (size_t i = 0; i < count; i++) {
		uint64_t lower = next_random(seed) % times;

		items[i] = (struct gp_span){
			.lower = lower,
			.upper = lower + 1 + next_random(seed) % times,
			.size = 1 + next_random(seed) % sizes,
			.align = 1,
			.id = (uint32_t)i,
		};
	}
	return spans;
}

static uint64_t top_of(const struct gp_spans *spans, const uint64_t *offsets)
{
	uint64_t top = 0;

	for (size_t i = 0; i < spans->count; i++)
		if (offsets[i] + spans->items[i].size > top)
			top = offsets[i] + spans->items[i].size;
	return top;
}

static struct gp_floor found(const struct gp_spans *spans, uint64_t capacity,
			     uint64_t work)
{
	const struct gp_floor_config config = { .spans = spans,
						.capacity = capacity,
						.work = work };
	struct gp_floor floor;

	gp_floor_find(&config, &floor);
	ck_assert_uint_ge(floor.height, floor.bound);
	ck_assert_uint_eq(top_of(spans, floor.offsets), floor.height);
	ck_assert(is_valid(spans, floor.offsets));
	return floor;
}

/* ---- the lowest packing ---- */

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t c = *a;

	*a = *b;
	*b = c;
}

/* Some order gives the lowest packing. */
static uint64_t least(const struct gp_spans *spans, struct place *place,
		      uint32_t *order, size_t from)
{
	uint64_t offsets[8], work = UINT64_MAX, best = UINT64_MAX;

	if (from == spans->count) {
		place_all(place, order, offsets, &work);
		return top_of(spans, offsets);
	}
	for (size_t i = from; i < spans->count; i++) {
		uint64_t height;

		swap(&order[from], &order[i]);
		height = least(spans, place, order, from + 1);
		swap(&order[from], &order[i]);
		if (height < best)
			best = height;
	}
	return best;
}

/* Returns whether the least height is more than the most live bytes. */
static bool must_be_least(const struct gp_spans *spans)
{
	struct place *place = place_create(spans);
	uint32_t order[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct gp_floor floor = found(spans, 0, 0);
	bool is_more = floor.height > floor.bound;

	ck_assert(floor.is_least);
	ck_assert_uint_eq(floor.height, least(spans, place, order, 0));
	gp_floor_release(&floor);
	place_destroy(place);
	return is_more;
}

START_TEST(few_spans_are_packed_as_low_as_can_be)
{
	uint64_t seed = 1;

	for (int i = 0; i < 60; i++) {
		struct gp_spans spans = random_spans(&seed, 6, 5, 9);

		must_be_least(&spans);
	}
}
END_TEST

static void scale(struct gp_spans *spans, uint64_t by)
{
	for (size_t i = 0; i < spans->count; i++) {
		spans->items[i].size *= by;
		if (spans->items[i].align > 1)
			spans->items[i].align *= by;
	}
}

START_TEST(alignment_is_kept_and_its_price_is_the_least)
{
	uint64_t seed = 7, more = 0;

	for (int i = 0; i < 60; i++) {
		struct gp_spans spans = random_spans(&seed, 6, 5, 9);

		for (size_t k = 0; k < spans.count; k++)
			spans.items[k].align = 1 + next_random(&seed) % 4;
		more += must_be_least(&spans);
		/* also if sizes have another unit than alignments, or one of
		 * them has another unit than the rest */
		for (size_t k = 0; k < spans.count; k++) {
			spans.items[k].size *= 3;
			spans.items[k].align = 1 + next_random(&seed) % 2;
		}
		must_be_least(&spans);
		scale(&spans, 16);
		spans.items[0].size++;
		must_be_least(&spans);
	}
	ck_assert_uint_gt(more, 10);
}
END_TEST

/* Whichever of the spans has an odd size, or an alignment of its own. */
START_TEST(one_that_is_not_like_the_others_is_aligned)
{
	uint64_t seed = 3;

	for (int i = 0; i < 60; i++)
		for (size_t k = 0; k < 6; k++) {
			struct gp_spans spans = random_spans(&seed, 6, 5, 3);

			for (size_t n = 0; n < spans.count; n++) {
				spans.items[n].size *= 4;
				spans.items[n].align = 4;
			}
			if (i % 2)
				spans.items[k].size -= 3;
			else
				spans.items[k].align = 3;
			must_be_least(&spans);
		}
}
END_TEST

START_TEST(another_unit_takes_as_many_steps)
{
	uint64_t seed = 7;

	for (int i = 0; i < 60; i++) {
		struct gp_spans spans = random_spans(&seed, 6, 5, 9);
		struct gp_floor ones, others;

		for (size_t k = 0; k < spans.count; k++)
			spans.items[k].align = 1 + next_random(&seed) % 4;
		ones = found(&spans, 0, 0);
		scale(&spans, 512);
		others = found(&spans, 0, 0);
		ck_assert_uint_eq(others.height, 512 * ones.height);
		ck_assert_uint_eq(others.work, ones.work);
		gp_floor_release(&ones);
		gp_floor_release(&others);
	}
}
END_TEST

/* The example in minimalloc's README: 12 bytes, all sections full. */
START_TEST(a_capacity_that_fits_is_found_and_one_below_is_refused)
{
	struct gp_span items[] = {
		{ .lower = 0, .upper = 3, .size = 4, .align = 1 },
		{ .lower = 3, .upper = 9, .size = 4, .align = 1 },
		{ .lower = 0, .upper = 9, .size = 4, .align = 1 },
		{ .lower = 9, .upper = 21, .size = 4, .align = 1 },
		{ .lower = 0, .upper = 21, .size = 4, .align = 1 },
	};
	struct gp_spans spans = { .items = items, .count = COUNT_OF(items) };
	struct gp_floor floor = found(&spans, 12, 0);

	ck_assert_uint_eq(floor.height, 12);
	ck_assert(!floor.is_impossible);
	gp_floor_release(&floor);
	floor = found(&spans, 11, 0);
	ck_assert(floor.is_impossible);
	gp_floor_release(&floor);
}
END_TEST

START_TEST(a_capacity_is_reached_or_is_impossible)
{
	uint64_t seed = 21;

	for (int i = 0; i < 40; i++) {
		struct gp_spans spans = random_spans(&seed, 6, 5, 9);
		struct place *place;
		uint32_t order[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
		uint64_t lowest;

		for (size_t k = 0; k < spans.count; k++)
			spans.items[k].align = 1 + next_random(&seed) % 4;
		place = place_create(&spans);
		lowest = least(&spans, place, order, 0);
		place_destroy(place);
		for (uint64_t c = 1; c < lowest + 4; c++) {
			struct gp_floor floor = found(&spans, c, 0);

			ck_assert_int_eq(floor.is_impossible, c < lowest);
			if (c >= lowest)
				ck_assert_uint_le(floor.height, c);
			if (floor.is_least)
				ck_assert_uint_eq(floor.height, lowest);
			gp_floor_release(&floor);
		}
	}
}
END_TEST

/* ---- many ---- */

START_TEST(many_spans_are_packed_within_any_number_of_steps)
{
	static const uint64_t work[] = { 1, 1000, 100000, 10000000 };
	uint64_t seed = 3, before = UINT64_MAX;
	struct gp_spans spans = random_spans(&seed, MOST, 500, 100000);

	for (size_t i = 0; i < MOST; i++)
		spans.items[i].size <<= next_random(&seed) % 12;
	for (size_t i = 0; i < COUNT_OF(work); i++) {
		struct gp_floor floor = found(&spans, 0, work[i]);

		ck_assert_uint_le(floor.work, work[i]);
		ck_assert_uint_le(floor.height, before);
		before = floor.height;
		gp_floor_release(&floor);
	}
	/* These are entirely random; programs are packed more tightly. */
	ck_assert_uint_lt(before - gp_floor_bound(&spans, &seed), before / 10);
}
END_TEST

START_TEST(the_same_spans_give_the_same_offsets)
{
	uint64_t seed = 5;
	struct gp_spans spans = random_spans(&seed, 300, 60, 1000);
	struct gp_floor a = found(&spans, 0, 3000000),
			b = found(&spans, 0, 3000000);

	ck_assert(!memcmp(a.offsets, b.offsets,
			  spans.count * sizeof(*a.offsets)));
	gp_floor_release(&a);
	gp_floor_release(&b);
}
END_TEST

/* A gate compares packings made on different machines, so these change only
 * with the methods. */
START_TEST(so_they_do_on_every_machine)
{
	static const struct {
		size_t count;
		uint64_t times, sizes, align, work;
		enum gp_floor_method method;
		uint64_t height, steps;
	} rows[] = {
		{ 300, 60, 1000, 1, 0, GP_FLOOR_SEARCHED, 2425529, 24235598 },
		{ 300, 60, 1000, 1, 1000000, GP_FLOOR_IN_ORDER, 2248177,
		  999025 },
		{ 300, 60, 1000, 1, 100000, GP_FLOOR_SEARCHED, 2615430, 63054 },
		{ 300, 60, 1000, 1, 20000, GP_FLOOR_SEARCHED, 3407191, 11636 },
		{ 300, 60, 1000, 512, 1000000, GP_FLOOR_IN_ORDER, 2114577,
		  999025 },
		{ 100, 60, 20, 4, 1000000, GP_FLOOR_IMPROVED, 19144, 999025 },
		{ 60, 200, 20, 1, 10000000, GP_FLOOR_SEARCHED, 15529, 802895 },
		{ 60, 20, 3, 1, 10000000, GP_FLOOR_IN_TIME, 1922, 0 },
	};
	uint64_t seed = 11;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_spans spans = random_spans(
			&seed, rows[i].count, rows[i].times, rows[i].sizes);
		struct gp_floor floor;

		for (size_t k = 0; k < spans.count; k++) {
			spans.items[k].size <<= next_random(&seed) % 8;
			spans.items[k].align = rows[i].align;
		}
		floor = found(&spans, 0, rows[i].work);
		ck_assert_int_eq(floor.method, rows[i].method);
		ck_assert_uint_eq(floor.height, rows[i].height);
		ck_assert_uint_eq(floor.work, rows[i].steps);
		gp_floor_release(&floor);
	}
}
END_TEST

START_TEST(nothing_needs_nothing)
{
	struct gp_spans spans = { 0 };
	struct gp_floor floor = found(&spans, 0, 0);
	uint64_t time = 7;

	ck_assert_uint_eq(gp_floor_bound(&spans, &time), 0);
	ck_assert_uint_eq(time, 0);

	ck_assert_uint_eq(floor.height, 0);
	ck_assert(floor.is_least);
	gp_floor_release(&floor);
}
END_TEST

START_TEST(what_overlaps_is_not_valid)
{
	struct gp_span items[] = {
		{ .lower = 0, .upper = 2, .size = 4, .align = 1 },
		{ .lower = 1, .upper = 3, .size = 4, .align = 1 },
	};
	struct gp_spans spans = { .items = items, .count = 2 };

	ck_assert(is_valid(&spans, (uint64_t[]){ 0, 4 }));
	ck_assert(is_valid(&spans, (uint64_t[]){ 4, 0 }));
	ck_assert(!is_valid(&spans, (uint64_t[]){ 0, 3 }));
	ck_assert(!is_valid(&spans, (uint64_t[]){ 3, 0 }));
}
END_TEST

/* ---- gaps ---- */

START_TEST(what_lies_in_a_gap_takes_no_room_of_its_own)
{
	struct gp_span items[] = {
		{ .lower = 0, .upper = 9, .size = 4, .align = 1, .gaps = 1 },
		{ .lower = 3, .upper = 6, .size = 4, .align = 1 },
	};
	struct gp_span_gap gap = { .lower = 3, .upper = 6 };
	struct gp_spans spans = {
		.items = items, .count = 2, .gaps = &gap, .gap_count = 1
	};
	struct gp_floor floor = found(&spans, 0, 0);

	ck_assert_uint_eq(floor.height, 4);
	gp_floor_release(&floor);
	/* Part of it is in use then. A packing counts all of it, and so does
	 * not prove that less is impossible. */
	gap.to = 1;
	for (uint64_t capacity = 0; capacity < 8; capacity++) {
		floor = found(&spans, capacity, 0);
		ck_assert_uint_eq(floor.bound, 5);
		ck_assert_uint_eq(floor.height, 8);
		ck_assert(!floor.is_least);
		ck_assert_int_eq(floor.is_impossible, capacity && capacity < 5);
		gp_floor_release(&floor);
	}
}
END_TEST

/* Spans at a few times, with up to two gaps each, some of them partly in
 * use. */
static struct gp_spans random_gaps(uint64_t *seed)
{
	static struct gp_span items[6];
	static struct gp_span_gap gaps[12];
	struct gp_spans spans = { .items = items, .count = 6, .gaps = gaps };

	for (size_t i = 0; i < spans.count; i++) {
		struct gp_span *span = &items[i];
		uint64_t at = next_random(seed) % 6;

		*span = (struct gp_span){ at, .size = 1 + i, .align = 1 };
		span->first_gap = (uint32_t)spans.gap_count;
		while (span->gaps < 2 && next_random(seed) % 3) {
			struct gp_span_gap *gap = &gaps[spans.gap_count++];

			gap->lower = at + next_random(seed) % 2;
			gap->upper = gap->lower + 1 + next_random(seed) % 4;
			gap->to = next_random(seed) % 3 == 0;
			at = gap->upper;
			span->gaps++;
		}
		span->upper = at + 1 + next_random(seed) % 3;
	}
	return spans;
}

static bool meet(const struct gp_spans *spans, size_t i, size_t k)
{
	for (uint64_t time = 0; time < 24; time++)
		if (is_in_use(spans, i, time) && is_in_use(spans, k, time))
			return true;
	return false;
}

/* The first time at which that many bytes are in use. */
static uint64_t time_of(const struct gp_spans *spans, uint64_t bytes)
{
	for (uint64_t time = 0; time < 24; time++) {
		uint64_t sum = bytes_at(spans, time);

		ck_assert_uint_le(sum, bytes);
		if (sum == bytes)
			return time;
	}
	ck_abort_msg("never are so many in use");
}

START_TEST(spans_meet_where_both_are_in_use)
{
	uint64_t seed = 5, time;

	for (int round = 0; round < 1000; round++) {
		struct gp_spans spans = random_gaps(&seed);
		uint64_t bound = gp_floor_bound(&spans, &time);

		ck_assert_uint_eq(time, time_of(&spans, bound));
		for (uint32_t i = 0; i < spans.count; i++)
			for (uint32_t k = 0; k < i; k++)
				ck_assert_int_eq(spans_meet(&spans, i, k),
						 meet(&spans, i, k));
	}
}
END_TEST

/* ---- the search ---- */

/* The lowest packing is found, and none below it, in the same number of steps
 * on every machine. */
START_TEST(the_search_finds_the_least)
{
	uint64_t seed = 17, steps = 0, more = 0;

	for (int i = 0; i < 200; i++) {
		struct gp_spans spans = i % 2 ? random_spans(&seed, 6, 5, 9)
					      : random_gaps(&seed);
		uint32_t order[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
		uint64_t offsets[8], work = UINT64_MAX, best, most, time;
		struct place *place;
		struct graph graph;

		for (size_t k = 0; k < spans.count; k++)
			spans.items[k].align = 1 + next_random(&seed) % 4;
		place = place_create(&spans);
		best = least(&spans, place, order, 0);
		more += best > gp_floor_bound(&spans, &time);
		ck_assert(graph_make(&graph, &spans, UINT64_MAX));
		ck_assert_int_eq(search_fit(&graph, best, &work, offsets),
				 SEARCH_FOUND);
		ck_assert(is_valid(&spans, offsets));
		ck_assert_uint_le(top_of(&spans, offsets), best);
		ck_assert_int_eq(search_fit(&graph, best - 1, &work, offsets),
				 SEARCH_NONE);
		steps += UINT64_MAX - work;
		most = 0;
		for (size_t k = 0; k < spans.count; k++)
			most += graph.end[k] - graph.first[k];
		most = gp_larger(most, graph.meet_at[spans.count]);
		graph_release(&graph);
		ck_assert(!graph_make(&graph, &spans, most - 1));
		ck_assert(graph_make(&graph, &spans, most));
		graph_release(&graph);
		place_destroy(place);
	}
	ck_assert_uint_gt(more, 10);
	ck_assert_uint_eq(steps, 52400);
}
END_TEST

/* ---- of traces ---- */

START_TEST(a_trace_is_its_lifetimes_whatever_its_streams)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\":\"alloc\",\"id\":1,\"size\":1000},"
		"{\"op\":\"alloc\",\"id\":2,\"size\":512,\"stream\":7},"
		"{\"op\":\"free\",\"id\":1},"
		"{\"op\":\"alloc\",\"id\":3,\"size\":700,\"stream\":9}"));
	struct gp_spans spans;
	struct gp_floor floor;

	gp_spans_of_trace(trace, 0, 512, &spans);
	ck_assert_uint_eq(spans.count, 3);
	ck_assert_uint_eq(spans.items[0].lower, 1);
	ck_assert_uint_eq(spans.items[0].upper, 3);
	ck_assert_uint_eq(spans.items[0].size, 1024);
	ck_assert_uint_eq(spans.items[2].upper, 5);
	floor = found(&spans, 0, 0);
	ck_assert_uint_eq(floor.bound, 1536);
	ck_assert_uint_eq(floor.height, 1536);
	gp_floor_release(&floor);
	gp_spans_release(&spans);
	gp_trace_destroy(trace);
}
END_TEST

/* Nor do spans without bytes count. */
START_TEST(blocks_of_more_than_4_eib_together_are_left_out)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\":\"alloc\",\"id\":1,\"size\":0},"
		"{\"op\":\"alloc\",\"id\":2,\"size\":512},"
		"{\"op\":\"alloc\",\"id\":3,\"size\":4611686018427387393},"
		"{\"op\":\"alloc\",\"id\":4,\"size\":4611686018427387392},"
		"{\"op\":\"free\",\"id\":3}"));
	struct gp_spans spans;

	gp_spans_of_trace(trace, 0, 512, &spans);
	ck_assert_uint_eq(spans.count, 2);
	ck_assert_uint_eq(spans.items[0].size, 512);
	ck_assert_uint_eq(spans.items[1].size, (UINT64_C(1) << 62) - 512);
	gp_spans_release(&spans);
	gp_trace_destroy(trace);
}
END_TEST

#define EVENTS 400

/* Blocks are requested and freed in any order; the first one stays. */
static void write_random_events(uint64_t *seed, FILE *out)
{
	unsigned live[EVENTS], count = 0;

	for (unsigned id = 1, n = 0; n < EVENTS; n++) {
		unsigned others = count ? count - 1 : 0;

		if (others && next_random(seed) % 2) {
			unsigned at =
				1 + (unsigned)(next_random(seed) % others);

			fprintf(out, ",{\"op\":\"free\",\"id\":%u}", live[at]);
			live[at] = live[--count];
			continue;
		}
		fprintf(out, ",{\"op\":\"alloc\",\"id\":%u,\"size\":%u}", id,
			1 + (unsigned)next_random(seed) % 9999);
		live[count++] = id++;
	}
}

static struct gp_trace *random_trace(uint64_t *seed)
{
	char text[EVENTS * 64];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fputs("{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":"
	      "[{\"device\":0,\"events\":[{\"op\":\"empty_cache\"}",
	      out);
	write_random_events(seed, out);
	fputs("]}]}", out);
	fclose(out);
	return trace_of(text);
}

/* Each block has a place that no other block has while both are live; those
 * that the plan knows lie where they would lie without the others. */
START_TEST(what_a_plan_does_not_know_lies_where_it_is_idle)
{
	uint64_t seed = 7;

	for (unsigned i = 0; i < 60; i++) {
		struct gp_trace *trace = random_trace(&seed);
		struct gp_spans spans;
		uint64_t *known, *all, offsets[EVENTS];
		size_t places = 0;

		known = gp_places_make(trace, 0, i % 5 / 4.0, false);
		all = gp_places_make(trace, 0, i % 5 / 4.0, true);
		gp_spans_of_trace(trace, 0, GP_FLOOR_ROUND, &spans);
		for (size_t s = 0; s < spans.count; s++) {
			uint32_t id = spans.items[s].id;

			offsets[s] = all[id];
			ck_assert_uint_ne(all[id], GP_NO_PLACE);
			if (known[id] != GP_NO_PLACE)
				ck_assert_uint_eq(all[id], known[id]);
			places += known[id] != GP_NO_PLACE;
		}
		ck_assert(is_valid(&spans, offsets));
		/* None, some or all of them are known. */
		ck_assert_int_eq(places > 0, i % 5 > 0);
		ck_assert_int_eq(places < spans.count, i % 5 < 4);
		gp_spans_release(&spans);
		gp_trace_destroy(trace);
		free(known);
		free(all);
	}
}
END_TEST

/* With few times, many are equal; times have any number of bits. */
START_TEST(moments_are_in_order)
{
	const uint64_t times[] = { 1,
				   3,
				   40,
				   5000,
				   UINT64_C(1) << 22,
				   UINT64_C(1) << 45,
				   UINT64_MAX / 2 };
	uint64_t seed = 29;

	for (size_t t = 0; t < COUNT_OF(times); t++)
		for (size_t count = 0; count <= MOST; count = 3 * count + 1) {
			struct gp_spans spans =
				random_spans(&seed, count, times[t], 9);
			struct moment *m;
			size_t n = spans_moments(&spans, false, &m);

			ck_assert_uint_eq(n, 2 * count);
			for (size_t i = 0; i < n; i++) {
				const struct gp_span *s =
					&spans.items[m[i].span];

				ck_assert_uint_eq(m[i].time,
						  m[i].kind == BEGINS
							  ? s->lower
							  : s->upper);
				ck_assert(!i || m[i - 1].time < m[i].time ||
					  (m[i - 1].time == m[i].time &&
					   (m[i - 1].kind < m[i].kind ||
					    (m[i - 1].kind == m[i].kind &&
					     m[i - 1].span < m[i].span))));
			}
			free(m);
		}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ few_spans_are_packed_as_low_as_can_be, 0 },
		{ one_that_is_not_like_the_others_is_aligned, 0 },
		{ another_unit_takes_as_many_steps, 0 },
		{ alignment_is_kept_and_its_price_is_the_least, 0 },
		{ a_capacity_that_fits_is_found_and_one_below_is_refused, 0 },
		{ many_spans_are_packed_within_any_number_of_steps, 0 },
		{ the_same_spans_give_the_same_offsets, 0 },
		{ so_they_do_on_every_machine, 0 },
		{ a_capacity_is_reached_or_is_impossible, 0 },
		{ nothing_needs_nothing, 0 },
		{ what_overlaps_is_not_valid, 0 },
		{ what_lies_in_a_gap_takes_no_room_of_its_own, 0 },
		{ spans_meet_where_both_are_in_use, 0 },
		{ the_search_finds_the_least, 0 },
		{ a_trace_is_its_lifetimes_whatever_its_streams, 0 },
		{ blocks_of_more_than_4_eib_together_are_left_out, 0 },
		{ what_a_plan_does_not_know_lies_where_it_is_idle, 0 },
		{ moments_are_in_order, 0 },
	};

	return suite_run("floor", tests, COUNT_OF(tests));
}
