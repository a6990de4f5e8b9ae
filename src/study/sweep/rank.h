/* SPDX-License-Identifier: MIT */
/* What came of a sweep: a row has the numbers of one run; a ranking says which
 * is best. */
#ifndef STUDY_SWEEP_RANK_H
#define STUDY_SWEEP_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/price.h"
#include "gpupool/replay.h"
#include "study/estimate.h"

/* ---- what came of it ---- */

#define GP_FAILURE_TEXT 256

/* Of one run: its worst device's numbers; of several: the worst run's. */
struct gp_sweep_row {
	uint64_t reserved;  /* bytes, peak */
	uint64_t allocated; /* bytes, then */
	uint64_t retries, ooms;
	uint64_t dropped; /* requests not served, for whatever reason */
	uint64_t first_oom_alloc, first_oom_event; /* 0: none */
	uint64_t device_allocs;			   /* num_device_alloc */
	uint64_t device_time_us;
	uint64_t least_reserved; /* of the runs: the spread */
	uint64_t devices;	 /* joined; 0: no run yet */
	uint32_t worst;		 /* index of the run with most reserved */
	/* Of windows: what the whole program would reserve at its peak, and
	 * between what (study/estimate.h), of the device with most: one that
	 * has no estimate reserves what its replay does.  0: all are so. */
	uint64_t estimated, estimated_low, estimated_high;
	/* Why there are no numbers; empty: there are. */
	char failure[GP_FAILURE_TEXT];
	/* Cut short behind so many events: the numbers are those of then, and
	 * it cannot be best.  0: whole. */
	uint64_t cut_events;
};

/* Adds a device's result; estimate NULL: there is none of it. */
void gp_row_add(struct gp_sweep_row *row, const struct gp_replay_result *result,
		const struct gp_estimate *estimate,
		const struct gp_prices *prices);
/* Adds another run's row, say another rank's. */
void gp_row_join(struct gp_sweep_row *row, const struct gp_sweep_row *other,
		 uint32_t index);

/* What the program reserves at its peak, as well as it is known: what settings
 * are ranked by. */
static inline uint64_t gp_row_peak(const struct gp_sweep_row *row)
{
	return row->estimated ? row->estimated : row->reserved;
}

/* Of that, what is not allocated. */
static inline uint64_t gp_row_gap(const struct gp_sweep_row *row)
{
	uint64_t peak = gp_row_peak(row);

	return peak > row->allocated ? peak - row->allocated : 0;
}

/* ---- which is best ---- */

enum gp_rank_by {
	GP_RANK_RESERVED,
	GP_RANK_GAP,
	GP_RANK_RETRIES,
	GP_RANK_TIME,
};

/* A setting that was tried, as a ranking sees it. */
struct gp_contender {
	const struct gp_sweep_row *row;
	const char *conf; /* fewer settings win a tie */
	size_t index;	  /* then the order of the grid */
};

/*
 * Best first: fewest requests not served, then what by says, then the rest of
 * reserved, retries, time; then fewest settings, then index.
 */
void gp_rank(struct gp_contender *contenders, size_t count, enum gp_rank_by by);

/* Whether two have the same numbers. */
bool gp_rank_is_tie(const struct gp_contender *a, const struct gp_contender *b);

/* Of ranked contenders that serve as many requests as the first: whether
 * nothing has both less reserved and less time. */
bool gp_rank_is_front(const struct gp_contender *contenders, size_t count,
		      size_t index);

#endif
