/* SPDX-License-Identifier: MIT */
/*
 * Packing in the order of time, as an allocator with one heap does that knows
 * nothing of what comes: each span goes to the lowest free place that is large
 * enough.  Backward the same is done from the last time to the first.
 */
#ifndef STUDY_FLOOR_HEAP_H
#define STUDY_FLOOR_HEAP_H

#include "study/floor/spans.h"

enum heap_direction { HEAP_FORWARD, HEAP_BACKWARD };

/* moments as of spans_moments, without gaps.  offsets are written for the spans
 * of a size below that; returns their height. */
uint64_t heap_pack(const struct gp_spans *spans, const struct moment *moments,
		   size_t count, enum heap_direction direction, uint64_t below,
		   uint64_t *offsets);

#endif
