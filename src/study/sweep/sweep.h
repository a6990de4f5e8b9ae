/* SPDX-License-Identifier: MIT */
/*
 * Sweeps: many settings, releases, capacities and engines over the same traces.
 *
 * A grid lists the combinations, in an order that depends on nothing but what
 * was asked for; a row has the numbers of one; a ranking says which is best.
 */
#ifndef STUDY_SWEEP_SWEEP_H
#define STUDY_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "study/estimate.h"
#include "gpupool/price.h"
#include "gpupool/replay.h"
#include "study/space.h"
#include "gpupool/status.h"

/* ---- what is tried ---- */

/*
 * An axis: "NAME=VALUE,...".  NAME is PyTorch's name of a setting, or one of an
 * engine's own, or torch, capacity, engine.  A value may be none (not set), a
 * range A..B*F or A..B+S, and has its commas within brackets.  Or there is one
 * value alone, all.
 */
struct gp_axis {
	char *name;
	char **values; /* "none" is not set */
	size_t count;
	/* The only value is "all": every value that makes a difference. */
	bool is_all;
	bool is_of_engine; /* a setting of an engine's own */
};

/* GP_USAGE for what is none.  largest: of the requests, in bytes, which bounds
 * the rounding that makes a difference; 0: no axis may take all values. */
enum gp_status gp_axis_parse(const char *text, uint64_t largest,
			     struct gp_axis *axis, struct gp_diag *diag);
void gp_axis_release(struct gp_axis *axis);

struct gp_combination {
	char *conf; /* owned by the grid */
	struct gp_settings settings;
	const struct gp_engine *engine;
	uint64_t capacity; /* bytes; 0: each trace's own */
	char *reason;	   /* why it cannot be, in PyTorch's words; else NULL */
	bool is_undecided; /* reason: why the traces do not tell */
	/* Settings of which every value is to be tried, as 1 << enum
	 * gp_space_axis.  Box: of those, the values that the run stands for. */
	unsigned searched;
	struct gp_box box;
};

/* What runs stand for every value of some settings. */
struct gp_classes {
	unsigned searched; /* 1 << enum gp_space_axis; 0: there is none */
	uint64_t runs;	   /* replays of a trace */
	uint64_t values;   /* that they stand for; 0: not counted */
	bool is_complete;  /* every value is stood for */
};

/* An engine that is opened for a grid, and how it is named there. */
struct gp_grid_engine {
	char *name;
	struct gp_engine *engine;
};

struct gp_grid {
	struct gp_combination *items;
	size_t count;
	struct gp_grid_engine *engines; /* of the items; owned */
	size_t engine_count, engine_room;
};

struct gp_grid_config {
	/* Each in place of the recorded settings, tried in this order. */
	const char *const *confs;
	size_t conf_count;
	const struct gp_axis *axes; /* the first changes slowest */
	size_t axis_count;
	uint8_t release;   /* unless an axis says */
	uint64_t capacity; /* 0: each trace's own */
	/* How engines are opened, but for their path: all of it borrowed, as
	 * long as the grid is there.  An axis says which; else the default. */
	struct gp_engine_library library;
};

/*
 * GP_USAGE: too many, or a value of torch, capacity or engine that is none, or
 * a setting that none of the engines has; or why an engine is not opened.
 *
 * Combinations with the same settings are there once.  PyTorch's settings are
 * those of PyTorch's allocator: of the others only
 * per_process_memory_fraction, which the replay holds every engine to, is kept.
 */
enum gp_status gp_grid_make(const struct gp_grid_config *config,
			    struct gp_grid *grid, struct gp_diag *diag);
void gp_grid_release(struct gp_grid *grid);

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
