/* SPDX-License-Identifier: MIT */
/*
 * Search: whether spans fit a capacity, by trying what else can be.
 *
 * After M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
 * Hardware-Accelerated Machine Learning", ASPLOS 2023.  Of all packings only
 * those are looked at in which no span can be put lower, and these from low
 * offsets to high ones, so that each is met once.
 */
#ifndef STUDY_FLOOR_SEARCH_H
#define STUDY_FLOOR_SEARCH_H

#include "study/floor/graph.h"

enum search_end {
	SEARCH_FOUND,
	SEARCH_NONE,	/* there is no such packing */
	SEARCH_GAVE_UP, /* the work is used up */
};

/* Steps are taken off *work.  offsets are written when found. */
enum search_end search_fit(const struct graph *graph, uint64_t capacity,
			   uint64_t *work, uint64_t *offsets);

#endif
