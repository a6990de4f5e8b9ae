/* SPDX-License-Identifier: MIT */
/*
 * Blocks as bands over time, for a picture of so many columns: those that take
 * most of it are bands of their own, all others are told as one sum.
 *
 * A column stands for some moments of the window and shows one of them: the
 * first with the most allocated, so that no peak is lost.  Bands lie one upon
 * another in the order of their allocs, the oldest at the bottom; what is freed
 * lets those above it drop.  A picture takes memory for what it shows, however
 * many blocks there are.
 */
#ifndef STUDY_METRICS_BANDS_H
#define STUDY_METRICS_BANDS_H

#include "study/metrics/culprit.h"
#include "study/metrics/lifetimes.h"

#define GP_BANDS_COLUMNS 8192 /* at most */
#define GP_BANDS_MOST	 20000

struct gp_bands_window {
	uint64_t from, to; /* moments [from, to); to 0: to the end */
	size_t columns;	   /* at most; 0 is 1 */
	size_t most;	   /* bands */
};

struct gp_band {
	uint32_t lifetime;    /* index into the lifetimes */
	uint32_t first, last; /* columns that it is in */
};

struct gp_band_column {
	uint64_t from;	    /* the first moment that it stands for */
	uint64_t moment;    /* that it shows */
	uint64_t allocated; /* at that moment */
	uint64_t reserved;  /* the most of all its moments */
	uint64_t rest;	    /* bytes of the blocks that have no band */
	uint64_t rest_blocks;
};

struct gp_bands {
	uint64_t from, to;
	struct gp_band_column *columns;
	size_t column_count;
	struct gp_band *list; /* in the order of their allocs */
	size_t count;
	uint64_t blocks; /* in any column, with a band or without */
};

void gp_bands_init(struct gp_bands *bands, const struct gp_lifetimes *lifetimes,
		   const struct gp_bands_window *window);
void gp_bands_release(struct gp_bands *bands);

/* The band at that byte of a column, where they lie one upon another; GP_NO_ID:
 * it is the rest, or above all. */
uint32_t gp_bands_hit(const struct gp_bands *bands,
		      const struct gp_lifetimes *lifetimes, size_t column,
		      uint64_t byte);

/* By culprit, its place among all when they are sorted by bytes times events of
 * the whole run, the most first: the same for every window.  The caller frees.
 */
uint32_t *gp_bands_ranks(const struct gp_lifetimes *lifetimes,
			 const struct askers *askers);

#endif
