/* SPDX-License-Identifier: MIT */
/*
 * Regions: sets of points with whole coordinates along a few axes, from which
 * boxes are subtracted.
 */
#ifndef STUDY_REGION_H
#define STUDY_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_AXES 3

/* Both ends included; never empty. */
struct region_box {
	uint64_t least[REGION_AXES], most[REGION_AXES];
};

/* Disjoint boxes. Zeroed: empty. */
struct region {
	struct region_box *boxes;
	size_t count, room;
};

void region_add(struct region *region, const struct region_box *box);
void region_subtract(struct region *region, const struct region_box *box);
void region_release(struct region *region);

#endif
