/* SPDX-License-Identifier: MIT */
/* When a span of the floor's is in use, and whether a packing of them is valid,
 * looked up plainly. */
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
