/* SPDX-License-Identifier: MIT */
/*
 * What a sweep tries: settings, releases, capacities and engines over the same
 * traces, in an order that depends on nothing but what was asked for.
 */
#ifndef STUDY_SWEEP_GRID_H
#define STUDY_SWEEP_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/status.h"
#include "study/space.h"
#include "study/sweep/axis.h"

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

#endif
