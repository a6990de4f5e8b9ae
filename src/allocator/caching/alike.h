/* SPDX-License-Identifier: MIT */
/*
 * Which other values of the settings would have led to the same decisions.
 *
 * struct gp_alike begins with all values there are.  Each comparison with a
 * setting narrows its range to the side that the comparison took, so that at
 * any moment every setting within the ranges has led to the present state.
 * Where two settings decide together, a part of what is possible is left out:
 * the ranges are a box, of which each combination holds.
 */
#ifndef CACHING_ALIKE_H
#define CACHING_ALIKE_H

#include "allocator/caching/caching.h"

/* All values that its settings may have. */
void alike_begin(struct caching *c);

/* The best free block of that size was taken, or was too large. */
void alike_judge_block(struct caching *c, uint64_t block, uint64_t rounded);

static inline void alike_find(struct caching *c, uint64_t block,
			      uint64_t rounded)
{
	/* Below every limit there is nothing to decide. */
	if (c->alike && block >= c->alike->max_split_least)
		alike_judge_block(c, block, rounded);
}

/* More than SMALL_SIZE of a block was or was not split off. */
void alike_split(struct caching *c, uint64_t rounded);

/* A request is about to release oversize blocks. */
void alike_release(struct caching *c, const struct request *request);

/* large_segment_size is used as a size. */
static inline void alike_large(struct caching *c)
{
	if (!c->alike)
		return;
	c->alike->large_least = c->settings.large_segment_size;
	c->alike->large_most = c->settings.large_segment_size;
}

/* A request is about to ask the device: collection may come first. */
void alike_before_gc(struct caching *c);

/* What a collection did. */
struct alike_gc {
	uint64_t reserved; /* when it began */
	uint64_t reclaimed;
	uint64_t before_last; /* reclaimed before the last round that did */
	bool is_content;      /* it ended for having reclaimed enough */
};
void alike_after_gc(struct caching *c, const struct alike_gc *gc);

/* The program sets them anew; c->settings are still the former ones. */
void alike_end(struct caching *c, const char *conf);

#endif
