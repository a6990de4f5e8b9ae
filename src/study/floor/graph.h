/* SPDX-License-Identifier: MIT */
/*
 * Spans as the search sees them: which meet, and at which times they add up.
 *
 * Times at which nothing begins after something ended are left out: what is in
 * use then is in use at a neighbouring time too.  What is left is numbered
 * (sections), so that time is as short as it can be.
 */
#ifndef STUDY_FLOOR_GRAPH_H
#define STUDY_FLOOR_GRAPH_H

#include "study/floor/floor.h"

struct graph {
	uint32_t count, sections;
	const struct gp_span *spans;
	uint32_t *first, *end; /* sections of a span, gaps included */
	/* Of span i: cover[cover_at[i] .. cover_at[i + 1]) are its sections,
	 * meet[meet_at[i] ..] the spans it shares one with. */
	uint32_t *cover_at, *cover;
	uint32_t *meet_at, *meet;
	uint64_t *load; /* bytes in use, by section */
};

/* False, and nothing made, when it would take more than most entries. */
bool graph_make(struct graph *graph, const struct gp_spans *spans,
		uint64_t most);
void graph_release(struct graph *graph);

#endif
