/* SPDX-License-Identifier: MIT */
/* Packing spans: in order of time, or in any given order. */
#ifndef STUDY_FLOOR_PLACE_H
#define STUDY_FLOOR_PLACE_H

#include "study/floor/spans.h"

/*
 * In order of time, like an allocator with one heap and no knowledge of the
 * future: each span is placed first fit. Backward, the same is done from the
 * last time to the first.
 */
enum heap_direction { HEAP_FORWARD, HEAP_BACKWARD };

/* moments: from spans_moments(), without gaps. Writes the offsets of the spans
 * smaller than `below`; returns their height. */
uint64_t heap_pack(const struct gp_spans *spans, const struct moment *moments,
		   size_t count, enum heap_direction direction, uint64_t below,
		   uint64_t *offsets);

/*
 * In a given order: each span in turn gets the lowest place that is free during
 * its lifetime. Can be used for any number of orders of the same spans.
 */
struct place;

struct place *place_create(const struct gp_spans *spans);
void place_destroy(struct place *place);

/* order: indices of all spans. Subtracts the steps used from *work; false if it
 * is exhausted, and offsets are then meaningless. */
bool place_all(struct place *place, const uint32_t *order, uint64_t *offsets,
	       uint64_t *work);

/* place_put() fixes a span at an offset. place_more() then places the other
 * spans, in the given order, around those; false as above: the spans from
 * *placed on have no offset. */
void place_put(struct place *place, uint32_t span, uint64_t offset);
bool place_more(struct place *place, const uint32_t *order, size_t count,
		uint64_t *offsets, uint64_t *work, size_t *placed);

#endif
