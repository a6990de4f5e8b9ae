/* SPDX-License-Identifier: MIT */
/*
 * Placement in a given order: each span in turn gets the lowest place that is
 * free during its lifetime.
 */
#ifndef STUDY_FLOOR_PLACE_H
#define STUDY_FLOOR_PLACE_H

#include "study/floor/floor.h"

/* Can be used for any number of orders of the same spans. */
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
