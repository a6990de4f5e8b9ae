/* SPDX-License-Identifier: MIT */
/* The results of a sweep: a row has the numbers of one run; a ranking says
 * which is best. */
#ifndef STUDY_SWEEP_RANK_H
#define STUDY_SWEEP_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/replay.h"
#include "study/estimate.h"

/* ---- results ---- */

#define GP_FAILURE_TEXT 256

/* The numbers of one run's worst device, or of the worst of several runs. */
struct gp_sweep_row {
	uint64_t reserved;  /* bytes, peak */
	uint64_t allocated; /* bytes, at that moment */
	uint64_t retries, ooms;
	uint64_t dropped; /* requests not served, for any reason */
	/* Of the first device that fails; see ooms for whether one does. */
	uint64_t first_oom_alloc, first_oom_event;
	uint64_t first_oom_device; /* GP_UNLIMITED: not known */
	uint32_t first_oom_run;	   /* index as in worst */
	uint64_t device_allocs;	   /* num_device_alloc */
	uint64_t device_time_us;
	uint64_t least_reserved; /* least reserved of the runs */
	uint64_t devices;	 /* number of devices joined; 0: no run yet */
	uint32_t worst;		 /* index of the run with most reserved */
	/* For windows: the estimated peak of the whole program and its bounds
	 * (study/estimate.h), of the device with the highest; a device without
	 * an estimate counts with the reserved bytes of its replay. 0: no
	 * device has an estimate. */
	uint64_t estimated, estimated_low, estimated_high;
	/* Why there are no numbers; empty if there are. */
	char failure[GP_FAILURE_TEXT];
	/* The run was cut short after this many events: the numbers are those
	 * at that point, and it cannot be best. 0: complete. */
	uint64_t cut_events;
};

/* Adds the result of a device; estimate may be NULL. */
void gp_row_add(struct gp_sweep_row *row, const struct gp_replay_result *result,
		const struct gp_estimate *estimate,
		const struct gp_prices *prices);
/* Adds the row of another run, such as another rank. */
void gp_row_join(struct gp_sweep_row *row, const struct gp_sweep_row *other,
		 uint32_t index);

/* The best known peak of reserved memory, by which settings are ranked. */
static inline uint64_t gp_row_peak(const struct gp_sweep_row *row)
{
	return row->estimated ? row->estimated : row->reserved;
}

/* The part of that peak that is not allocated. */
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

/* A setting in a ranking. */
struct gp_contender {
	const struct gp_sweep_row *row;
	const char *conf; /* first tie-breaker: fewer settings */
	size_t index;	  /* second tie-breaker: order in the grid */
};

/*
 * Sorts contenders, best first: by fewest requests not served; then by `by`;
 * then by the others of reserved, retries and time; then by fewest settings;
 * then by index.
 */
void gp_rank(struct gp_contender *contenders, size_t count, enum gp_rank_by by);

/* Whether two have the same numbers. */
bool gp_rank_is_tie(const struct gp_contender *a, const struct gp_contender *b);

/* Whether a ranked contender is on the Pareto front of those that serve as many
 * requests as the first: none has both less reserved and less time. */
bool gp_rank_is_front(const struct gp_contender *contenders, size_t count,
		      size_t index);

#endif
