/* SPDX-License-Identifier: MIT */
/* Regions, and subtracting boxes from them. */
#include "study/region.h"

#include <stdlib.h>

#include "base/mem.h"

void region_add(struct region *region, const struct region_box *box)
{
	region->boxes = gp_mem_grow(region->boxes, &region->room,
				    region->count + 1, sizeof(*region->boxes));
	region->boxes[region->count++] = *box;
}

void region_release(struct region *region)
{
	free(region->boxes);
	*region = (struct region){ 0 };
}

static bool intersect(const struct region_box *a, const struct region_box *b)
{
	for (int i = 0; i < REGION_AXES; i++)
		if (a->least[i] > b->most[i] || b->least[i] > a->most[i])
			return false;
	return true;
}

/* Adds the part of `whole` outside the box, which intersects it: up to two
 * pieces along each axis, cut off one after the other. */
static void add_rest(struct region *region, struct region_box whole,
		     const struct region_box *box)
{
	for (int i = 0; i < REGION_AXES; i++) {
		struct region_box piece = whole;

		if (box->most[i] < whole.most[i]) {
			piece.least[i] = box->most[i] + 1;
			region_add(region, &piece);
			whole.most[i] = box->most[i];
		}
		piece = whole;
		if (box->least[i] > whole.least[i]) {
			piece.most[i] = box->least[i] - 1;
			region_add(region, &piece);
			whole.least[i] = box->least[i];
		}
	}
}

void region_subtract(struct region *region, const struct region_box *box)
{
	struct region left = { 0 };

	for (size_t i = 0; i < region->count; i++)
		if (intersect(&region->boxes[i], box))
			add_rest(&left, region->boxes[i], box);
		else
			region_add(&left, &region->boxes[i]);
	region_release(region);
	*region = left;
}
