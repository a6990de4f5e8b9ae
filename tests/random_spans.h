/* SPDX-License-Identifier: MIT */
/* Pseudorandom spans, for tests that compare with a straightforward
 * computation. */
#ifndef TESTS_RANDOM_SPANS_H
#define TESTS_RANDOM_SPANS_H

#include "study/floor/floor.h"
#include "suite.h"

#define MOST_RANDOM_SPANS 800

/* With small numbers, many of the spans are equal. */
struct spans_like {
	size_t count;
	uint64_t times;	 /* when a span begins, and how long it is in use */
	uint64_t sizes;	 /* at most */
	uint64_t aligns; /* at most */
	uint32_t gaps;	 /* at most, of each */
};

static inline void add_random_gaps(struct gp_spans *spans, size_t i,
				   uint32_t most, uint64_t *seed)
{
	struct gp_span *span = &spans->items[i];
	uint64_t at = span->lower;

	span->first_gap = (uint32_t)spans->gap_count;
	while (span->gaps < most && next_random(seed) % 2) {
		struct gp_span_gap gap = { .lower =
						   at + next_random(seed) % 3 };

		gap.upper = gap.lower + 1 + next_random(seed) % 3;
		if (gap.upper >= span->upper)
			return;
		/* Part of the gap is in use, so other spans cannot lie
		 * there. */
		gap.to = next_random(seed) % 4 == 0;
		at = gap.upper;
		spans->gaps[spans->gap_count++] = gap;
		span->gaps++;
	}
}

/* The spans are in static memory, which the next call overwrites. */
static inline struct gp_spans spans_like(const struct spans_like *like,
					 uint64_t *seed)
{
	static struct gp_span items[MOST_RANDOM_SPANS];
	static struct gp_span_gap gaps[4 * MOST_RANDOM_SPANS];
	struct gp_spans spans = { .items = items,
				  .count = like->count,
				  .gaps = gaps };

	ck_assert_uint_le(like->count, MOST_RANDOM_SPANS);
	ck_assert_uint_le(like->gaps, 4);
	for (size_t i = 0; i < like->count; i++) {
		struct gp_span span = { .id = (uint32_t)i };

		span.lower = next_random(seed) % like->times;
		span.upper = span.lower + 1 + next_random(seed) % like->times;
		span.size = 1 + next_random(seed) % like->sizes;
		span.align = 1 + next_random(seed) % like->aligns;
		items[i] = span;
		add_random_gaps(&spans, i, like->gaps, seed);
	}
	return spans;
}

#endif
