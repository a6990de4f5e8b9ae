/* SPDX-License-Identifier: MIT */
/* When a span of the floor's is in use, looked up plainly. */
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

#endif
