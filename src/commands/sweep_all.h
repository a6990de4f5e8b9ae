/* SPDX-License-Identifier: MIT */
/*
 * Sweeps over every value of a setting: --set max_split_size_mb=all.
 *
 * A run tells which other values it stands for; of several traces, those that
 * the runs of all of them do.  The next run is made with a value that none has
 * stood for yet, until none is left.
 */
#ifndef COMMANDS_SWEEP_ALL_H
#define COMMANDS_SWEEP_ALL_H

#include <stdatomic.h>

#include "commands/progress.h"
#include "commands/sweep_run.h"

struct gp_sweep_all_config {
	const struct gp_options *options;
	/* By trace: what does not depend on the combination. */
	const struct gp_sweep_run *runs;
	size_t trace_count;
	size_t threads;
	struct gp_progress *progress;
	const atomic_bool *stop; /* when set, it ends with what is there */
};

/* What came of it; runs are by combination of the grid, then trace, and those
 * that were not made are zero. */
struct gp_sweep_all {
	struct gp_classes classes;
	struct gp_book_run *runs;
	size_t run_count;
	/* Of the first run that failed. */
	enum gp_status status;
	struct gp_diag diag;
};

/* Each combination of the grid that searches settings gives way to one for each
 * class of values; where none does, nothing is done.  GP_USAGE: the options, or
 * an engine, do not go with it. */
enum gp_status gp_sweep_all_run(const struct gp_sweep_all_config *config,
				struct gp_grid *grid, struct gp_sweep_all *all,
				struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_sweep_all_release(struct gp_sweep_all *all);

#endif
