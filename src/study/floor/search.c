/* SPDX-License-Identifier: MIT */
/*
 * A search for a packing within a capacity, by backtracking.
 *
 * After M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
 * Hardware-Accelerated Machine Learning", ASPLOS 2023. Only packings in which
 * no span can be moved down are considered, and these are built from low
 * offsets to high ones, so that each is visited once.
 *
 * It works on a graph: which spans overlap in time, and in which sections of
 * time.
 */
#include "study/floor/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "study/floor/spans.h"

/* The search recurses to a depth of one level per span. */
#define MOST_SPANS 4096
#define MOST_GAPS  65536

/* ---- the graph: sections ---- */

/* A time at which a span begins (1) or ends (0). */
struct edge {
	uint64_t time;
	bool begins;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->begins > y->begins) - (x->begins < y->begins);
}

static size_t list_edges(const struct gp_spans *spans, struct edge *edges)
{
	size_t n = 0;

	for (size_t i = 0; i < spans->count; i++) {
		edges[n++] = (struct edge){ spans->items[i].lower, true };
		edges[n++] = (struct edge){ spans->items[i].upper, false };
	}
	for (size_t i = 0; i < spans->gap_count; i++) {
		edges[n++] = (struct edge){ spans->gaps[i].lower, false };
		edges[n++] = (struct edge){ spans->gaps[i].upper, true };
	}
	qsort(edges, n, sizeof(*edges), by_time);
	return n;
}

/* The time of each section: the last beginning before an end. Returns their
 * number; times has room for n. */
static uint32_t find_sections(const struct edge *edges, size_t n,
			      uint64_t *times)
{
	uint32_t count = 0;

	for (size_t i = 0; i + 1 < n; i++)
		if (edges[i].begins && !edges[i + 1].begins)
			times[count++] = edges[i].time;
	return count;
}

/* The first section at or after a time. */
static uint32_t section_at(const uint64_t *times, uint32_t count, uint64_t time)
{
	return (uint32_t)gp_sorted_from(GP_SORTED_NUMBERS(times, count), time);
}

static bool is_in_gap(const struct gp_spans *spans, const struct gp_span *span,
		      uint64_t time)
{
	for (uint32_t i = 0; i < span->gaps; i++) {
		const struct gp_span_gap *gap =
			&spans->gaps[span->first_gap + i];

		if (!gap->to && gap->lower <= time && time < gap->upper)
			return true;
	}
	return false;
}

static void set_sections(struct graph *graph, const struct gp_spans *spans,
			 uint64_t *times)
{
	size_t edges = 2 * (spans->count + spans->gap_count);
	struct edge *list = gp_mem_alloc(edges + 1, sizeof(*list));

	graph->sections = find_sections(list, list_edges(spans, list), times);
	free(list);
	graph->load =
		gp_mem_alloc(graph->sections + (size_t)1, sizeof(*graph->load));
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct gp_span *span = &spans->items[i];

		graph->first[i] =
			section_at(times, graph->sections, span->lower);
		graph->end[i] = section_at(times, graph->sections, span->upper);
	}
}

static bool set_cover(struct graph *graph, const struct gp_spans *spans,
		      const uint64_t *times, uint64_t most)
{
	uint64_t total = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph->count; i++)
		total += graph->end[i] - graph->first[i];
	if (total > most)
		return false;
	graph->cover = gp_mem_alloc(total + 1, sizeof(*graph->cover));
	for (uint32_t i = 0; i < graph->count; i++) {
		graph->cover_at[i] = n;
		for (uint32_t s = graph->first[i]; s < graph->end[i]; s++) {
			if (is_in_gap(spans, &spans->items[i], times[s]))
				continue;
			graph->cover[n++] = s;
			graph->load[s] += spans->items[i].size;
		}
	}
	graph->cover_at[graph->count] = n;
	return true;
}

/* ---- the graph: overlaps in time ---- */

/* Whether two spans share a section; both lists ascend. */
static bool have_common(const struct graph *graph, uint32_t a, uint32_t b)
{
	uint32_t i = graph->cover_at[a], j = graph->cover_at[b];

	while (i < graph->cover_at[a + 1] && j < graph->cover_at[b + 1]) {
		if (graph->cover[i] == graph->cover[j])
			return true;
		if (graph->cover[i] < graph->cover[j])
			i++;
		else
			j++;
	}
	return false;
}

static bool meets(const struct graph *graph, uint32_t a, uint32_t b)
{
	if (a == b || graph->first[a] >= graph->end[b] ||
	    graph->first[b] >= graph->end[a])
		return false;
	if (!graph->spans[a].gaps && !graph->spans[b].gaps)
		return true;
	return have_common(graph, a, b);
}

static bool set_meet(struct graph *graph, uint64_t most)
{
	size_t room = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph->count; i++) {
		graph->meet_at[i] = n;
		GP_GROW(graph->meet, n + (size_t)graph->count, room);
		for (uint32_t k = 0; k < graph->count; k++)
			if (meets(graph, i, k))
				graph->meet[n++] = k;
		if (n > most)
			return false;
	}
	graph->meet_at[graph->count] = n;
	return true;
}

bool graph_make(struct graph *graph, const struct gp_spans *spans,
		uint64_t most)
{
	size_t n = spans->count;
	uint64_t *times;
	bool is_made;

	*graph = (struct graph){ 0 };
	if (n > MOST_SPANS || spans->gap_count > MOST_GAPS)
		return false;
	times = gp_mem_alloc(2 * (n + spans->gap_count) + 1, sizeof(*times));
	graph->count = (uint32_t)n;
	graph->spans = spans->items;
	graph->first = gp_mem_alloc(n + 1, sizeof(*graph->first));
	graph->end = gp_mem_alloc(n + 1, sizeof(*graph->end));
	graph->cover_at = gp_mem_alloc(n + 1, sizeof(*graph->cover_at));
	graph->meet_at = gp_mem_alloc(n + 1, sizeof(*graph->meet_at));
	set_sections(graph, spans, times);
	is_made = set_cover(graph, spans, times, most) && set_meet(graph, most);
	free(times);
	if (!is_made)
		graph_release(graph);
	return is_made;
}

void graph_release(struct graph *graph)
{
	free(graph->first);
	free(graph->end);
	free(graph->cover_at);
	free(graph->cover);
	free(graph->meet_at);
	free(graph->meet);
	free(graph->load);
	*graph = (struct graph){ 0 };
}

/* ---- the search ---- */

/* A span's lowest offset before it was raised. */
struct undo {
	uint64_t low;
	uint32_t span;
};

struct search {
	const struct graph *graph;
	uint64_t capacity;
	uint64_t work; /* steps left */
	/* By span: top of the placed spans that overlap it in time. */
	uint64_t *low;
	uint64_t *rest; /* by section: bytes still to be placed */
	/* By span: the smallest size among the spans that overlap it. */
	uint64_t *least;
	uint64_t *base; /* scratch, by section: lowest offset of the rest */
	uint32_t *rank; /* by span: earlier ones are tried first */
	bool *is_placed;
	uint32_t *placed; /* in order */
	uint32_t placed_count;
	struct candidate *found; /* scratch */
	struct undo *trail;
	size_t trail_count, trail_room;
	uint32_t *stack; /* lists of spans, by depth */
	size_t stack_count, stack_room;
};

struct candidate {
	uint64_t low;
	uint32_t rank, span;
};

/* A connected set of unplaced spans, in order of first section, on the stack;
 * the next one is placed at (offset, rank) or later in that order. */
struct part {
	size_t at;
	uint32_t count;
	uint64_t offset;
	uint32_t rank;
};

/* ---- the stack ---- */

static size_t push(struct search *s, const uint32_t *spans, uint32_t count)
{
	size_t at = s->stack_count;

	GP_GROW(s->stack, at + count + 1, s->stack_room);
	if (spans)
		memcpy(s->stack + at, spans, count * sizeof(*spans));
	s->stack_count += count;
	return at;
}

/* ---- placing ---- */

static void raise(struct search *s, uint32_t span, uint64_t low)
{
	if (s->low[span] >= low)
		return;
	GP_GROW(s->trail, s->trail_count + 1, s->trail_room);
	s->trail[s->trail_count++] = (struct undo){ s->low[span], span };
	s->low[span] = low;
}

static void place(struct search *s, uint32_t span)
{
	const struct graph *g = s->graph;
	uint64_t top = s->low[span] + g->spans[span].size;

	s->is_placed[span] = true;
	s->placed[s->placed_count++] = span;
	for (uint32_t i = g->cover_at[span]; i < g->cover_at[span + 1]; i++)
		s->rest[g->cover[i]] -= g->spans[span].size;
	for (uint32_t i = g->meet_at[span]; i < g->meet_at[span + 1]; i++) {
		uint32_t other = g->meet[i];

		if (!s->is_placed[other])
			raise(s, other, align_up(top, g->spans[other].align));
	}
}

static void take_back(struct search *s, uint32_t placed, size_t trail)
{
	const struct graph *g = s->graph;

	while (s->trail_count > trail) {
		struct undo *undo = &s->trail[--s->trail_count];

		s->low[undo->span] = undo->low;
	}
	while (s->placed_count > placed) {
		uint32_t span = s->placed[--s->placed_count];

		for (uint32_t i = g->cover_at[span]; i < g->cover_at[span + 1];
		     i++)
			s->rest[g->cover[i]] += g->spans[span].size;
		s->is_placed[span] = false;
	}
}

/* ---- pruning ---- */

static bool may_be_next(const struct search *s, const struct part *part,
			uint32_t span)
{
	uint64_t low = s->low[span];

	return low > part->offset ||
	       (low == part->offset && s->rank[span] >= part->rank);
}

/* The lowest offset of a span. One that may not be placed next has to be above
 * a span that overlaps it in time and begins at the part's offset or above. */
static uint64_t begin_of(const struct search *s, const struct part *part,
			 uint32_t span)
{
	if (may_be_next(s, part, span))
		return s->low[span];
	return gp_larger(s->low[span], part->offset + s->least[span]);
}

/* Whether, in each section, the rest fits above the lowest offset of its
 * spans. */
static bool can_fit(struct search *s, const struct part *part)
{
	const struct graph *g = s->graph;
	const uint32_t *list = s->stack + part->at;
	uint32_t from = g->first[list[0]], to = from;
	uint64_t work = part->count;

	for (uint32_t i = 0; i < part->count; i++) {
		if (g->end[list[i]] > to)
			to = g->end[list[i]];
		work += g->cover_at[list[i] + 1] - g->cover_at[list[i]];
	}
	s->work -= work < s->work ? work : s->work;
	if (!s->work)
		return false;
	for (uint32_t t = from; t < to; t++)
		s->base[t] = UINT64_MAX;
	for (uint32_t i = 0; i < part->count; i++) {
		uint64_t begin = begin_of(s, part, list[i]);

		if (begin + g->spans[list[i]].size > s->capacity)
			return false;
		for (uint32_t k = g->cover_at[list[i]];
		     k < g->cover_at[list[i] + 1]; k++)
			if (s->base[g->cover[k]] > begin)
				s->base[g->cover[k]] = begin;
	}
	for (uint32_t t = from; t < to; t++)
		if (s->base[t] != UINT64_MAX &&
		    s->base[t] + s->rest[t] > s->capacity)
			return false;
	return true;
}

/* ---- candidates ---- */

static int by_low(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/*
 * Pushes the spans that may be placed next, in order, and returns their number.
 * A span whose lowest offset is not below the top of some other span is
 * excluded: that other one could be placed below it.
 */
static uint32_t find_candidates(struct search *s, const struct part *part,
				size_t *at)
{
	const struct graph *g = s->graph;
	struct candidate *found = s->found;
	uint64_t least_top = UINT64_MAX;
	uint32_t n = 0;

	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t span = s->stack[part->at + i];
		uint64_t top = s->low[span] + g->spans[span].size;

		if (top < least_top)
			least_top = top;
		if (may_be_next(s, part, span))
			found[n++] = (struct candidate){ s->low[span],
							 s->rank[span], span };
	}
	qsort(found, n, sizeof(*found), by_low);
	while (n && found[n - 1].low >= least_top)
		n--;
	*at = push(s, NULL, n);
	for (uint32_t i = 0; i < n; i++)
		s->stack[*at + i] = found[i].span;
	return n;
}

/* ---- the search ---- */

static enum search_end solve(struct search *s, const struct part *part);

/* Solves the rest of a part after a span was placed; sets of spans that no
 * longer overlap in time are solved independently. */
static enum search_end solve_rest(struct search *s, const struct part *part,
				  uint32_t without)
{
	const struct graph *g = s->graph;
	struct part next = { .at = s->stack_count,
			     .offset = s->low[without],
			     .rank = s->rank[without] };
	enum search_end end = SEARCH_FOUND;
	uint32_t until = 0;
	size_t mark = s->stack_count;

	for (uint32_t i = 0; i <= part->count && end == SEARCH_FOUND; i++) {
		uint32_t span =
			i < part->count ? s->stack[part->at + i] : without;

		if (i < part->count && span == without)
			continue;
		if (next.count &&
		    (i == part->count || g->first[span] >= until)) {
			end = solve(s, &next);
			s->stack_count = mark;
			next.count = 0;
		}
		if (i == part->count)
			break;
		push(s, &span, 1);
		next.count++;
		if (g->end[span] > until)
			until = g->end[span];
	}
	s->stack_count = mark;
	return end;
}

static enum search_end solve(struct search *s, const struct part *part)
{
	enum search_end end = SEARCH_NONE;
	size_t at, mark = s->stack_count;
	uint32_t count;

	if (!part->count)
		return SEARCH_FOUND;
	if (!can_fit(s, part))
		return s->work ? SEARCH_NONE : SEARCH_GAVE_UP;
	count = find_candidates(s, part, &at);
	for (uint32_t i = 0; i < count && end == SEARCH_NONE; i++) {
		uint32_t span = s->stack[at + i];
		size_t trail = s->trail_count;
		uint32_t placed = s->placed_count;

		place(s, span);
		end = solve_rest(s, part, span);
		if (end != SEARCH_FOUND)
			take_back(s, placed, trail);
	}
	s->stack_count = mark;
	return end;
}

/* ---- orders ---- */

struct weights {
	uint32_t width; /* sections */
	uint64_t load;	/* largest load of its sections */
	uint64_t area, size;
	uint32_t span;
};

enum choice {
	WIDTH_FIRST,
	LOAD_THEN_AREA,
	LOAD_THEN_WIDTH,
	SIZE_FIRST,
	CHOICES,
};

static int down(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a > b ? -1 : 1;
}

static int by_weights(const void *a, const void *b, void *order)
{
	const struct weights *x = a, *y = b;
	int width = down(x->width, y->width), load = down(x->load, y->load),
	    area = down(x->area, y->area), size = down(x->size, y->size);
	const int keys[CHOICES][3] = {
		[WIDTH_FIRST] = { width, area, load },
		[LOAD_THEN_AREA] = { load, area, width },
		[LOAD_THEN_WIDTH] = { load, width, area },
		[SIZE_FIRST] = { size, width, load },
	};
	const int *key = keys[*(const enum choice *)order];

	for (int i = 0; i < 3; i++)
		if (key[i])
			return key[i];
	return (x->span > y->span) - (x->span < y->span);
}

static void set_ranks(struct search *s, enum choice order)
{
	const struct graph *g = s->graph;
	struct weights *list =
		gp_mem_alloc(g->count + (size_t)1, sizeof(*list));

	for (uint32_t i = 0; i < g->count; i++) {
		struct weights *w = &list[i];

		w->span = i;
		w->width = g->cover_at[i + 1] - g->cover_at[i];
		w->size = g->spans[i].size;
		w->area = w->width * w->size;
		for (uint32_t k = g->cover_at[i]; k < g->cover_at[i + 1]; k++)
			w->load = gp_larger(w->load, g->load[g->cover[k]]);
	}
	qsort_r(list, g->count, sizeof(*list), by_weights, &order);
	for (uint32_t i = 0; i < g->count; i++)
		s->rank[list[i].span] = i;
	free(list);
}

/* ---- the whole search ---- */

static int by_first(const void *a, const void *b, void *graph)
{
	const struct graph *g = graph;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (g->first[x] != g->first[y])
		return g->first[x] < g->first[y] ? -1 : 1;
	/* Sorting is not stable with every C library. */
	return (x > y) - (x < y);
}

static uint64_t least_met(const struct graph *g, uint32_t span)
{
	uint64_t least = UINT64_MAX / 4;

	for (uint32_t i = g->meet_at[span]; i < g->meet_at[span + 1]; i++)
		if (g->spans[g->meet[i]].size < least)
			least = g->spans[g->meet[i]].size;
	return least;
}

static void init(struct search *s, const struct graph *graph)
{
	size_t n = graph->count + (size_t)1;

	*s = (struct search){ .graph = graph };
	s->low = gp_mem_alloc(n, sizeof(*s->low));
	s->rank = gp_mem_alloc(n, sizeof(*s->rank));
	s->least = gp_mem_alloc(n, sizeof(*s->least));
	for (uint32_t i = 0; i < graph->count; i++)
		s->least[i] = least_met(graph, i);
	s->is_placed = gp_mem_alloc(n, sizeof(*s->is_placed));
	s->placed = gp_mem_alloc(n, sizeof(*s->placed));
	s->found = gp_mem_alloc(n, sizeof(*s->found));
	s->rest = gp_mem_alloc(graph->sections + (size_t)1, sizeof(*s->rest));
	s->base = gp_mem_alloc(graph->sections + (size_t)1, sizeof(*s->base));
}

static void release(struct search *s)
{
	free(s->low);
	free(s->rank);
	free(s->is_placed);
	free(s->placed);
	free(s->found);
	free(s->rest);
	free(s->base);
	free(s->least);
	free(s->trail);
	free(s->stack);
}

/* Searches from the start, trying spans in a given order. */
static enum search_end attempt(struct search *s, enum choice order,
			       uint64_t work)
{
	const struct graph *g = s->graph;
	struct part all = { .count = g->count };

	memset(s->low, 0, g->count * sizeof(*s->low));
	memset(s->is_placed, 0, g->count * sizeof(*s->is_placed));
	memcpy(s->rest, g->load, g->sections * sizeof(*s->rest));
	s->placed_count = 0;
	s->trail_count = s->stack_count = 0;
	s->work = work;
	set_ranks(s, order);
	all.at = push(s, NULL, g->count);
	for (uint32_t i = 0; i < g->count; i++)
		s->stack[i] = i;
	qsort_r(s->stack, g->count, sizeof(*s->stack), by_first, (void *)g);
	return solve(s, &all);
}

#define FIRST_WORK (UINT64_C(1) << 22)

enum search_end search_fit(const struct graph *graph, uint64_t capacity,
			   uint64_t *work, uint64_t *offsets)
{
	enum search_end end = SEARCH_GAVE_UP;
	uint64_t share = FIRST_WORK;
	struct search s;

	init(&s, graph);
	s.capacity = capacity;
	for (int i = 0; end == SEARCH_GAVE_UP && *work; i++) {
		uint64_t now = share < *work ? share : *work;

		end = attempt(&s, (enum choice)(i % CHOICES), now);
		*work -= now - s.work;
		if (i % CHOICES == CHOICES - 1)
			share *= 2;
	}
	if (end == SEARCH_FOUND)
		memcpy(offsets, s.low, graph->count * sizeof(*offsets));
	release(&s);
	return end;
}
