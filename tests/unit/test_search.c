/* SPDX-License-Identifier: MIT */
/* The search for a packing: its graph agrees with a look at each time, and it
 * ends as a straightforward search of the same tree does, after the same number
 * of steps. */
#include "study/floor/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "random_spans.h"
#include "span_use.h"
#include "study/floor/spans.h"

#define LAST 64 /* all spans have ended */

static const struct spans_like likes[] = {
	{ .count = 0, .times = 1, .sizes = 1, .aligns = 1 },
	{ .count = 1, .times = 4, .sizes = 4, .aligns = 3, .gaps = 2 },
	{ .count = 2, .times = 3, .sizes = 2, .aligns = 1 },
	{ .count = 3, .times = 6, .sizes = 3, .aligns = 1, .gaps = 2 },
	{ .count = 5, .times = 5, .sizes = 4, .aligns = 1 },
	{ .count = 6, .times = 9, .sizes = 9, .aligns = 3, .gaps = 2 },
	{ .count = 8, .times = 8, .sizes = 5, .aligns = 1, .gaps = 1 },
	{ .count = 12, .times = 24, .sizes = 7, .aligns = 2 },
};

/* ---- the graph ---- */

/* Whether any span, or a part of one beside a gap, ends or begins then. */
static bool any(const struct gp_spans *spans, uint64_t time, bool begins)
{
	for (size_t i = 0; i < spans->count; i++)
		if ((begins ? spans->items[i].lower : spans->items[i].upper) ==
		    time)
			return true;
	for (size_t i = 0; i < spans->gap_count; i++)
		if ((begins ? spans->gaps[i].upper : spans->gaps[i].lower) ==
		    time)
			return true;
	return false;
}

/* A section: a time at which something begins and after which, next, something
 * ends. */
static uint32_t sections_of(const struct gp_spans *spans, uint64_t *times)
{
	uint32_t count = 0;

	for (uint64_t time = 0; time < LAST; time++) {
		uint64_t next = time + 1;

		if (!any(spans, time, true))
			continue;
		while (next < LAST && !any(spans, next, true) &&
		       !any(spans, next, false))
			next++;
		if (any(spans, next, false))
			times[count++] = time;
	}
	return count;
}

static uint64_t load_at(const struct gp_spans *spans, uint64_t time)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < spans->count; i++)
		if (is_in_use(spans, i, time))
			sum += spans->items[i].size;
	return sum;
}

static void compare_graph(const struct gp_spans *spans,
			  const struct graph *graph)
{
	uint64_t times[LAST], load = 0;
	uint32_t count = sections_of(spans, times), cover = 0, meet = 0;

	ck_assert_uint_eq(graph->sections, count);
	for (uint32_t i = 0; i < spans->count; i++) {
		ck_assert_uint_eq(graph->cover_at[i], cover);
		for (uint32_t s = 0; s < count; s++)
			if (is_in_use(spans, i, times[s]))
				ck_assert_uint_eq(graph->cover[cover++], s);
		ck_assert_uint_eq(graph->meet_at[i], meet);
		for (uint32_t k = 0; k < spans->count; k++)
			if (i != k && spans_meet(spans, i, k))
				ck_assert_uint_eq(graph->meet[meet++], k);
	}
	ck_assert_uint_eq(graph->cover_at[spans->count], cover);
	ck_assert_uint_eq(graph->meet_at[spans->count], meet);
	for (uint32_t s = 0; s < count; s++) {
		ck_assert_uint_eq(graph->load[s], load_at(spans, times[s]));
		load = gp_larger(load, graph->load[s]);
	}
	/* No time with a higher load was missed. */
	for (uint64_t time = 0; time < LAST; time++)
		ck_assert_uint_le(load_at(spans, time), load);
}

START_TEST(a_graph_says_what_each_time_says)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < 60 * COUNT_OF(likes); i++) {
		struct gp_spans spans =
			spans_like(&likes[i % COUNT_OF(likes)], &seed);
		struct graph graph;

		ck_assert(graph_make(&graph, &spans, 10000));
		compare_graph(&spans, &graph);
		graph_release(&graph);
	}
}
END_TEST

/* Its sections, including gaps, and its overlaps are limited to this many. */
START_TEST(a_graph_is_no_larger_than_asked)
{
	uint64_t seed = 2;

	for (size_t i = 0; i < 20 * COUNT_OF(likes); i++) {
		struct gp_spans spans =
			spans_like(&likes[i % COUNT_OF(likes)], &seed);
		struct graph graph;
		uint64_t most = 0;

		ck_assert(graph_make(&graph, &spans, 10000));
		for (uint32_t k = 0; k < spans.count; k++)
			most += graph.end[k] - graph.first[k];
		if (graph.meet_at[spans.count] > most)
			most = graph.meet_at[spans.count];
		graph_release(&graph);
		ck_assert(graph_make(&graph, &spans, most));
		graph_release(&graph);
		ck_assert(!most || !graph_make(&graph, &spans, most - 1));
		ck_assert_ptr_null(graph.cover);
	}
}
END_TEST

START_TEST(a_graph_has_so_many_spans_and_gaps)
{
	enum { SPANS = 4096, GAPS = 65536 };
	static struct gp_span items[SPANS + 1];
	static struct gp_span_gap gaps[GAPS + 1];
	struct gp_spans spans = { .items = items, .gaps = gaps };
	struct graph graph;

	for (uint64_t i = 0; i <= SPANS; i++)
		items[i] = (struct gp_span){ .lower = 2 * i,
					     .upper = 2 * i + 1,
					     .size = 1,
					     .align = 1 };
	for (uint64_t i = 0; i <= GAPS; i++)
		gaps[i] = (struct gp_span_gap){ i, i + 1, 0, 0 };
	spans.count = SPANS;
	ck_assert(graph_make(&graph, &spans, SPANS));
	ck_assert_uint_eq(graph.sections, SPANS);
	graph_release(&graph);
	spans.count = SPANS + 1;
	ck_assert(!graph_make(&graph, &spans, 2 * SPANS));
	spans.count = 1;
	spans.gap_count = GAPS;
	ck_assert(graph_make(&graph, &spans, GAPS));
	graph_release(&graph);
	spans.gap_count = GAPS + 1;
	ck_assert(!graph_make(&graph, &spans, GAPS));
}
END_TEST

/* ---- the search, in a straightforward way ---- */

#define MOST 32

struct plain {
	const struct gp_spans *spans;
	const struct graph *graph;
	uint64_t capacity, work;
	uint32_t rank[MOST];
	uint64_t least[MOST]; /* the smallest size of its neighbours in time */
};

/* The spans placed so far: low is their offset, or a lower bound for the
 * others. */
struct placing {
	uint64_t low[MOST];
	bool is_placed[MOST];
};

struct list {
	uint32_t spans[MOST];
	uint32_t count;
};

/* The place of the last span: later ones lie higher, or have a higher rank. */
struct behind {
	uint64_t offset;
	uint32_t rank;
};

static uint32_t width(const struct graph *g, uint32_t i)
{
	return g->cover_at[i + 1] - g->cover_at[i];
}

static bool covers(const struct graph *g, uint32_t i, uint32_t section)
{
	if (section < g->first[i] || section >= g->end[i])
		return false;
	for (uint32_t k = g->cover_at[i]; k < g->cover_at[i + 1]; k++)
		if (g->cover[k] == section)
			return true;
	return false;
}

static bool may_follow(const struct plain *p, const struct placing *now,
		       struct behind behind, uint32_t i)
{
	return now->low[i] > behind.offset ||
	       (now->low[i] == behind.offset && p->rank[i] >= behind.rank);
}

/* The lowest possible offset: if it may not come next itself, it is above one
 * of its neighbours that does. */
static uint64_t begin_of(const struct plain *p, const struct placing *now,
			 struct behind behind, uint32_t i)
{
	uint64_t begin = behind.offset + p->least[i];

	if (may_follow(p, now, behind, i))
		return now->low[i];
	return begin > now->low[i] ? begin : now->low[i];
}

/* Whether every section has room for its rest above the lowest offset of
 * these. */
static bool can_fit(struct plain *p, const struct placing *now,
		    struct behind behind, const struct list *rest)
{
	uint64_t work = rest->count;

	for (uint32_t i = 0; i < rest->count; i++)
		work += width(p->graph, rest->spans[i]);
	p->work -= work < p->work ? work : p->work;
	if (!p->work)
		return false;
	for (uint32_t s = 0; s < p->graph->sections; s++) {
		uint64_t base = UINT64_MAX, sum = 0, begin;

		for (uint32_t i = 0; i < rest->count; i++) {
			uint32_t span = rest->spans[i];

			if (!covers(p->graph, span, s))
				continue;
			begin = begin_of(p, now, behind, span);
			base = begin < base ? begin : base;
			sum += p->spans->items[span].size;
		}
		if (base != UINT64_MAX && base + sum > p->capacity)
			return false;
	}
	for (uint32_t i = 0; i < rest->count; i++)
		if (begin_of(p, now, behind, rest->spans[i]) +
			    p->spans->items[rest->spans[i]].size >
		    p->capacity)
			return false;
	return true;
}

/* The spans that may come next, below the top of every other one, lowest
 * first. */
static struct list find_next(const struct plain *p, const struct placing *now,
			     struct behind behind, const struct list *rest)
{
	uint64_t top = UINT64_MAX;
	struct list next = { .count = 0 };

	for (uint32_t i = 0; i < rest->count; i++) {
		uint32_t span = rest->spans[i];
		uint64_t end = now->low[span] + p->spans->items[span].size;

		top = end < top ? end : top;
	}
	for (uint64_t low = behind.offset; low < top; low++)
		for (uint32_t rank = 0; rank < p->spans->count; rank++)
			for (uint32_t i = 0; i < rest->count; i++) {
				uint32_t span = rest->spans[i];

				if (p->rank[span] == rank &&
				    now->low[span] == low &&
				    may_follow(p, now, behind, span))
					next.spans[next.count++] = span;
			}
	return next;
}

static enum search_end solve(struct plain *p, struct placing *now,
			     struct behind behind, const struct list *rest);

/* Parts of the rest that do not overlap in time are solved separately. */
static enum search_end solve_parts(struct plain *p, struct placing *now,
				   struct behind behind,
				   const struct list *rest)
{
	struct list part = { .count = 0 };
	enum search_end end = SEARCH_FOUND;
	uint32_t until = 0;

	for (uint32_t i = 0; i < rest->count && end == SEARCH_FOUND; i++) {
		uint32_t span = rest->spans[i];

		if (part.count && p->graph->first[span] >= until) {
			end = solve(p, now, behind, &part);
			part.count = 0;
		}
		part.spans[part.count++] = span;
		if (p->graph->end[span] > until)
			until = p->graph->end[span];
	}
	return end == SEARCH_FOUND ? solve(p, now, behind, &part) : end;
}

static void put(const struct plain *p, struct placing *now, uint32_t span)
{
	uint64_t top = now->low[span] + p->spans->items[span].size;

	now->is_placed[span] = true;
	for (uint32_t k = 0; k < p->spans->count; k++) {
		uint64_t low = align_up(top, p->spans->items[k].align);

		if (k != span && !now->is_placed[k] && now->low[k] < low &&
		    spans_meet(p->spans, span, k))
			now->low[k] = low;
	}
}

static enum search_end solve(struct plain *p, struct placing *now,
			     struct behind behind, const struct list *rest)
{
	const struct placing before = *now;
	struct list next;

	if (!rest->count)
		return SEARCH_FOUND;
	if (!can_fit(p, now, behind, rest))
		return p->work ? SEARCH_NONE : SEARCH_GAVE_UP;
	next = find_next(p, now, behind, rest);
	for (uint32_t i = 0; i < next.count; i++) {
		uint32_t span = next.spans[i];
		struct list others = { .count = 0 };
		enum search_end end;

		for (uint32_t k = 0; k < rest->count; k++)
			if (rest->spans[k] != span)
				others.spans[others.count++] = rest->spans[k];
		put(p, now, span);
		end = solve_parts(
			p, now,
			(struct behind){ now->low[span], p->rank[span] },
			&others);
		if (end != SEARCH_NONE)
			return end;
		*now = before;
	}
	return SEARCH_NONE;
}

/* ---- the order in which spans are tried ---- */

enum { WIDTH, LOAD, AREA, SIZE };

static uint64_t key_of(const struct plain *p, uint32_t i, int key)
{
	const struct graph *g = p->graph;
	uint64_t load = 0;

	for (uint32_t k = g->cover_at[i]; k < g->cover_at[i + 1]; k++)
		if (g->load[g->cover[k]] > load)
			load = g->load[g->cover[k]];
	return key == WIDTH  ? width(g, i)
	       : key == LOAD ? load
	       : key == AREA ? width(g, i) * p->spans->items[i].size
			     : p->spans->items[i].size;
}

/* Larger spans come first; of equal ones, the earlier in the list. */
static bool precedes(const struct plain *p, uint32_t i, uint32_t k, int order)
{
	static const int keys[][3] = { { WIDTH, AREA, LOAD },
				       { LOAD, AREA, WIDTH },
				       { LOAD, WIDTH, AREA },
				       { SIZE, WIDTH, LOAD } };

	for (int j = 0; j < 3; j++) {
		uint64_t a = key_of(p, i, keys[order][j]);
		uint64_t b = key_of(p, k, keys[order][j]);

		if (a != b)
			return a > b;
	}
	return i < k;
}

static void set_least(struct plain *p)
{
	for (uint32_t i = 0; i < p->spans->count; i++) {
		p->least[i] = UINT64_MAX / 4;
		for (uint32_t k = 0; k < p->spans->count; k++)
			if (k != i && spans_meet(p->spans, i, k) &&
			    p->spans->items[k].size < p->least[i])
				p->least[i] = p->spans->items[k].size;
	}
}

static enum search_end plain_attempt(struct plain *p, int order,
				     struct placing *now)
{
	struct list all = { .count = 0 };
	uint32_t n = (uint32_t)p->spans->count;

	*now = (struct placing){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		p->rank[i] = 0;
		for (uint32_t k = 0; k < n; k++)
			p->rank[i] += k != i && precedes(p, k, i, order);
	}
	for (uint32_t first = 0; first <= p->graph->sections; first++)
		for (uint32_t i = 0; i < n; i++)
			if (p->graph->first[i] == first)
				all.spans[all.count++] = i;
	return solve(p, now, (struct behind){ 0, 0 }, &all);
}

#define FIRST_WORK (UINT64_C(1) << 22)

/* Four orders take turns, then again with twice as many steps. */
static enum search_end plain_fit(const struct gp_spans *spans,
				 const struct graph *graph, uint64_t capacity,
				 uint64_t *work, uint64_t *offsets)
{
	struct plain p = { .spans = spans,
			   .graph = graph,
			   .capacity = capacity };
	enum search_end end = SEARCH_GAVE_UP;
	struct placing now;

	set_least(&p);
	for (int i = 0; end == SEARCH_GAVE_UP && *work; i++) {
		uint64_t share = FIRST_WORK << i / 4;

		share = share < *work ? share : *work;
		p.work = share;
		end = plain_attempt(&p, i % 4, &now);
		*work -= share - p.work;
	}
	memcpy(offsets, now.low, spans->count * sizeof(*offsets));
	return end;
}

/* ---- comparisons ---- */

static enum search_end compare_search(const struct gp_spans *spans,
				      uint64_t capacity, uint64_t work)
{
	uint64_t left = work, plain_left = work;
	uint64_t offsets[MOST], plain_offsets[MOST];
	struct graph graph;
	enum search_end end;

	ck_assert(graph_make(&graph, spans, 10000));
	end = search_fit(&graph, capacity, &left, offsets);
	ck_assert_int_eq(end, plain_fit(spans, &graph, capacity, &plain_left,
					plain_offsets));
	ck_assert_uint_eq(left, plain_left);
	for (size_t i = 0; end == SEARCH_FOUND && i < spans->count; i++)
		ck_assert_uint_eq(offsets[i], plain_offsets[i]);
	if (end == SEARCH_FOUND) {
		ck_assert(is_valid(spans, offsets));
		ck_assert_uint_le(spans_top(spans, offsets), capacity);
	}
	graph_release(&graph);
	return end;
}

START_TEST(it_ends_as_a_plain_walk_does)
{
	size_t ends[3] = { 0 };
	uint64_t seed = 3, time;

	for (size_t i = 0; i < 30 * COUNT_OF(likes); i++) {
		struct gp_spans spans =
			spans_like(&likes[i % COUNT_OF(likes)], &seed);
		uint64_t bound = gp_floor_bound(&spans, &time);

		for (uint64_t more = 0; more < 3; more++)
			ends[compare_search(&spans, bound + more, 2000)]++;
		/* With few steps, the search stops anywhere. */
		for (uint64_t work = 1; work < 200; work += work / 8 + 1)
			ends[compare_search(&spans, bound, work)]++;
	}
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		ck_assert_uint_gt(ends[i], 20);
}
END_TEST

/* Hard enough that the first order gives up, and the second, third or fourth
 * one succeeds. */
START_TEST(each_order_has_its_turn)
{
	static const struct spans_like hard = {
		.count = 24, .times = 20, .sizes = 20, .aligns = 2
	};
	static const uint64_t seeds[] = { 77, 94, 22 };

	for (size_t i = 0; i < COUNT_OF(seeds); i++) {
		uint64_t seed = seeds[i], time;
		struct gp_spans spans = spans_like(&hard, &seed);
		uint64_t bound = gp_floor_bound(&spans, &time);

		ck_assert_int_eq(
			compare_search(&spans, bound, (i + 2) * FIRST_WORK),
			SEARCH_FOUND);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_graph_says_what_each_time_says, 0 },
		{ a_graph_is_no_larger_than_asked, 0 },
		{ a_graph_has_so_many_spans_and_gaps, 0 },
		{ it_ends_as_a_plain_walk_does, 0 },
		{ each_order_has_its_turn, 0 },
	};

	return suite_run("search", tests, COUNT_OF(tests));
}
