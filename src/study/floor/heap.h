/* SPDX-License-Identifier: MIT */
/*
 * Packing in order of time, like an allocator with one heap and no knowledge of
 * the future: each span is placed first fit. Backward, the same is done from
 * the last time to the first.
 */
#ifndef STUDY_FLOOR_HEAP_H
#define STUDY_FLOOR_HEAP_H

#include "study/floor/spans.h"

enum heap_direction { HEAP_FORWARD, HEAP_BACKWARD };

/* moments: from spans_moments(), without gaps. Writes the offsets of the spans
 * smaller than `below`; returns their height. */
uint64_t heap_pack(const struct gp_spans *spans, const struct moment *moments,
		   size_t count, enum heap_direction direction, uint64_t below,
		   uint64_t *offsets);

#endif
