/* SPDX-License-Identifier: MIT */
/* A search for a packing within a capacity, and the graph that it works on. */
#ifndef STUDY_FLOOR_SEARCH_H
#define STUDY_FLOOR_SEARCH_H

#include "study/floor/floor.h"

/*
 * The spans for the search: which of them overlap in time, and at which times.
 *
 * A time at which no span begins after one has ended is left out, because
 * whatever is in use then is also in use at a neighbouring time. The remaining
 * times are numbered (sections), which makes the time axis as short as
 * possible.
 */
struct graph {
	uint32_t count, sections;
	const struct gp_span *spans;
	uint32_t *first, *end; /* sections of a span, including its gaps */
	/* For span i: its sections are cover[cover_at[i] .. cover_at[i + 1]),
	 * and the spans that it shares a section with are meet[meet_at[i] ..
	 * meet_at[i + 1]). */
	uint32_t *cover_at, *cover;
	uint32_t *meet_at, *meet;
	uint64_t *load; /* bytes in use, by section */
};

/* False, and no graph, if it would take more than `most` entries. */
bool graph_make(struct graph *graph, const struct gp_spans *spans,
		uint64_t most);
void graph_release(struct graph *graph);

enum search_end {
	SEARCH_FOUND,
	SEARCH_NONE,	/* no such packing exists */
	SEARCH_GAVE_UP, /* work exhausted */
};

/* Subtracts the steps used from *work. offsets are written for SEARCH_FOUND. */
enum search_end search_fit(const struct graph *graph, uint64_t capacity,
			   uint64_t *work, uint64_t *offsets);

#endif
