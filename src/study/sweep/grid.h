/* SPDX-License-Identifier: MIT */
/*
 * The grid of a sweep: settings, releases, capacities and engines for the same
 * traces, in an order that depends only on the request. It is spanned by axes.
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

/* ---- axes ---- */

/*
 * An axis: "NAME=VALUE,...". NAME is PyTorch's name of a setting, or the name
 * of an engine's own setting, or torch, capacity or engine. A VALUE may be none
 * (not set), a range A..B*F or A..B+S, or contain commas within brackets. Or
 * the only value is all.
 */
struct gp_axis {
	char *name;
	char **values; /* "none": not set */
	size_t count;
	/* The only value is "all": every value that makes a difference. */
	bool is_all;
	bool is_of_engine; /* a setting of an engine's own */
};

/* Parses an axis; GP_USAGE if the text is invalid. largest: the largest request
 * in bytes, which bounds the roundings that make a difference; 0: "all" is not
 * permitted. */
enum gp_status gp_axis_parse(const char *text, uint64_t largest,
			     struct gp_axis *axis, struct gp_diag *diag);
void gp_axis_release(struct gp_axis *axis);

/* ---- the grid ---- */

struct gp_combination {
	char *conf; /* owned by the grid */
	struct gp_settings settings;
	const struct gp_engine *engine;
	uint64_t capacity; /* bytes; 0: that of each trace */
	char *reason;	   /* why it is invalid, in PyTorch's words; or NULL */
	bool is_undecided; /* reason says why the traces are insufficient */
	bool is_excluded;  /* reason is the option that says so */
	/* The settings of which every value is to be tried, as bits 1 << enum
	 * gp_space_axis. box: the values of those that the run proves. */
	unsigned searched;
	struct gp_box box;
};

/* Runs that together prove the result for every value of some settings. */
struct gp_classes {
	unsigned searched; /* bits 1 << enum gp_space_axis; 0: none */
	uint64_t runs;	   /* replays of a trace */
	uint64_t values;   /* values covered; 0: not counted */
	bool is_complete;  /* every value is covered */
};

/* An engine opened for a grid, and its name there. */
struct gp_grid_engine {
	char *name;
	struct gp_engine *engine;
};

struct gp_grid {
	struct gp_combination *items;
	size_t count;
	struct gp_grid_engine *engines; /* used by the items; owned */
	size_t engine_count, engine_room;
};

struct gp_grid_config {
	/* Each replaces the recorded settings; tried in this order. */
	const char *const *confs;
	size_t conf_count;
	const struct gp_axis *axes; /* the first changes slowest */
	size_t axis_count;
	uint8_t release;   /* unless set by an axis */
	uint64_t capacity; /* 0: that of each trace */
	/* How engines are opened, except for their path: all of it borrowed,
	 * for the lifetime of the grid. The engine is given by an axis, or else
	 * the default. */
	struct gp_engine_library library;
};

/*
 * GP_USAGE: there are too many combinations; or a value of torch, capacity or
 * engine is invalid; or none of the engines has a setting; or an engine cannot
 * be opened.
 *
 * Each combination of settings occurs once. PyTorch's settings apply to
 * PyTorch's allocators: for other engines only per_process_memory_fraction,
 * which the replay enforces for every engine, is kept.
 */
enum gp_status gp_grid_make(const struct gp_grid_config *config,
			    struct gp_grid *grid, struct gp_diag *diag);
void gp_grid_release(struct gp_grid *grid);

#endif
