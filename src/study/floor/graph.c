/* SPDX-License-Identifier: MIT */
/* The spans for the search: sections of time, and which spans overlap in
 * time. */
#include "study/floor/graph.h"

#include <stdlib.h>

#include "base/mem.h"

/* The search recurses to a depth of one level per span. */
#define MOST_SPANS 4096
#define MOST_GAPS  65536

/* ---- sections ---- */

/* A time at which a span begins (1) or ends (0). */
struct edge {
	uint64_t time;
	uint32_t begins;
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
		edges[n++] = (struct edge){ spans->items[i].lower, 1 };
		edges[n++] = (struct edge){ spans->items[i].upper, 0 };
	}
	for (size_t i = 0; i < spans->gap_count; i++) {
		edges[n++] = (struct edge){ spans->gaps[i].lower, 0 };
		edges[n++] = (struct edge){ spans->gaps[i].upper, 1 };
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
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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

/* ---- overlaps in time ---- */

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
		graph->meet = gp_mem_grow(graph->meet, &room,
					  n + (size_t)graph->count,
					  sizeof(*graph->meet));
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
