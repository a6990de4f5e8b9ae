/* SPDX-License-Identifier: MIT */
/*
 * A search for a packing within a capacity, by backtracking.
 *
 * After M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
 * Hardware-Accelerated Machine Learning", ASPLOS 2023. Only packings in which
 * no span can be moved down are considered, and these are built from low
 * offsets to high ones, so that each is visited once.
 */
#ifndef STUDY_FLOOR_SEARCH_H
#define STUDY_FLOOR_SEARCH_H

#include "study/floor/graph.h"

enum search_end {
	SEARCH_FOUND,
	SEARCH_NONE,	/* no such packing exists */
	SEARCH_GAVE_UP, /* work exhausted */
};

/* Subtracts the steps used from *work. offsets are written for SEARCH_FOUND. */
enum search_end search_fit(const struct graph *graph, uint64_t capacity,
			   uint64_t *work, uint64_t *offsets);

#endif
