/* SPDX-License-Identifier: MIT */
/*
 * The runs of a sweep.
 *
 * --set max_split_size_mb=all: a run tells which other values it stands for; of
 * several traces, those that the runs of all of them do.  The next run is made
 * with a value that none has stood for yet, until none is left.
 */
#ifndef COMMANDS_SWEEP_RUNS_H
#define COMMANDS_SWEEP_RUNS_H

#include <stdatomic.h>

#include "commands/plan.h"
#include "commands/progress.h"
#include "report/sweep_report.h"

/* All of it is borrowed. */
struct gp_sweep_run {
	const struct gp_combination *combination;
	const char *torch_lib; /* NULL: none */
	const char *path;      /* of the trace */
	const struct gp_trace *trace;
	const struct gp_plan *recorded;
	const struct gp_prices *prices;
	const struct gp_replay_cut *cut; /* NULL: the run goes on */
	bool keeps_body;
};

/* Plays it: what comes of it is kept, also that it failed.  alike: which other
 * settings it stands for; NULL: nobody asks. */
enum gp_status gp_sweep_play(const struct gp_sweep_run *run,
			     struct gp_sweep_report_run *kept,
			     struct gp_alike *alike, struct gp_diag *diag);

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
	struct gp_sweep_report_run *runs;
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
