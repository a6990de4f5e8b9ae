/* SPDX-License-Identifier: MIT */
/*
 * Blocks as bands over time, for a chart with a limited number of columns: the
 * blocks with the largest area are bands of their own, all others are summed
 * up.
 *
 * A column covers some moments of the window and shows one of them: the first
 * with the most allocated, so that no peak is lost. Bands are stacked in order
 * of their allocs, oldest at the bottom; when a block is freed, those above it
 * move down. The memory needed depends on what is shown, not on the number of
 * blocks.
 */
#ifndef STUDY_METRICS_BANDS_H
#define STUDY_METRICS_BANDS_H

#include "study/metrics/culprit.h"
#include "study/metrics/lifetimes.h"

#define GP_BANDS_COLUMNS 8192 /* most columns */
#define GP_BANDS_MOST	 20000

struct gp_bands_window {
	uint64_t from, to; /* moments [from, to); to == 0: to the end */
	size_t columns;	   /* most columns; 0 stands for 1 */
	size_t most;	   /* most bands */
};

struct gp_band {
	uint32_t lifetime;    /* index into the lifetimes */
	uint32_t first, last; /* columns in which it is */
};

struct gp_band_column {
	uint64_t from;	    /* the first moment that it covers */
	uint64_t moment;    /* the moment that it shows */
	uint64_t allocated; /* at that moment */
	uint64_t reserved;  /* maximum over all its moments */
	uint64_t rest;	    /* bytes of the blocks without a band */
	uint64_t rest_blocks;
};

struct gp_bands {
	uint64_t from, to;
	struct gp_band_column *columns;
	size_t column_count;
	struct gp_band *list; /* in order of alloc */
	size_t count;
	uint64_t blocks; /* blocks in any column, with or without a band */
};

void gp_bands_init(struct gp_bands *bands, const struct gp_lifetimes *lifetimes,
		   const struct gp_bands_window *window);
void gp_bands_release(struct gp_bands *bands);

/* By culprit, its rank by bytes x events over the whole run, largest first,
 * hence the same for every window. The caller frees the result. */
uint32_t *gp_bands_ranks(const struct gp_lifetimes *lifetimes,
			 const struct askers *askers);

#endif
