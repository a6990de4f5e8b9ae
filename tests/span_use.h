/* SPDX-License-Identifier: MIT */
/* Whether a span of the floor is in use at a time, and whether a packing of
 * spans is valid, computed in a straightforward way. */
#ifndef TESTS_SPAN_USE_H
#define TESTS_SPAN_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/floor/spans.h"

static inline bool is_in_use(const struct gp_spans *spans, size_t i,
			     uint64_t time)
{
	const struct gp_span *span = &spans->items[i];
	const struct gp_span_gap *gap = &spans->gaps[span->first_gap];

	for (uint32_t k = 0; k < span->gaps; k++, gap++)
		if (!gap->to && gap->lower <= time && time < gap->upper)
			return false;
	return span->lower <= time && time < span->upper;
}

/* All of its bytes, or those of the window of a gap. */
static inline uint64_t bytes_in_use(const struct gp_spans *spans, size_t i,
				    uint64_t time)
{
	const struct gp_span *span = &spans->items[i];
	const struct gp_span_gap *gap = &spans->gaps[span->first_gap];

	if (!is_in_use(spans, i, time))
		return 0;
	for (uint32_t k = 0; k < span->gaps; k++, gap++)
		if (gap->lower <= time && time < gap->upper)
			return gap->to - gap->from;
	return span->size;
}

static inline uint64_t bytes_at(const struct gp_spans *spans, uint64_t time)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < spans->count; i++)
		sum += bytes_in_use(spans, i, time);
	return sum;
}

/* Whether no two spans overlap and each offset is a multiple of the span's
 * align. Takes O(n^2) time. */
static inline bool is_valid(const struct gp_spans *spans,
			    const uint64_t *offsets)
{
	const struct gp_span *a = spans->items, *b;

	for (uint32_t i = 0; i < spans->count; i++)
		if (offsets[i] % a[i].align)
			return false;
	for (uint32_t i = 0; i < spans->count; i++)
		for (uint32_t k = i + 1; k < spans->count; k++) {
			b = &spans->items[k];
			if (offsets[i] < offsets[k] + b->size &&
			    offsets[k] < offsets[i] + a[i].size &&
			    spans_meet(spans, i, k))
				return false;
		}
	return true;
}

#endif
