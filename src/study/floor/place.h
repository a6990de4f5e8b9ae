/* SPDX-License-Identifier: MIT */
/*
 * Placing in an order: each span, in turn, at the lowest place that is free for
 * as long as it lives.
 */
#ifndef STUDY_FLOOR_PLACE_H
#define STUDY_FLOOR_PLACE_H

#include "study/floor/floor.h"

/* Reusable for any number of orders of the same spans. */
struct place;

struct place *place_create(const struct gp_spans *spans);
void place_destroy(struct place *place);

/* order: all spans.  Steps are taken off *work; false when it is used up, and
 * offsets are then of no use. */
bool place_all(struct place *place, const uint32_t *order, uint64_t *offsets,
	       uint64_t *work);

/* Each span of a plan lies where it is put, at its offset; then the others, in
 * an order, are placed between.  False as above: those from *placed on have no
 * offset. */
void place_put(struct place *place, uint32_t span, uint64_t offset);
bool place_more(struct place *place, const uint32_t *order, size_t count,
		uint64_t *offsets, uint64_t *work, size_t *placed);

#endif
