/* SPDX-License-Identifier: MIT */
/* The runs of a sweep. With --set max_split_size_mb=all, a run determines which
 * other values would give the same run; with several traces, the runs of all of
 * them do. The next run is made with a value that is not covered yet, until
 * none is left. */
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
	const struct gp_replay_cut *cut; /* NULL: the run is not cut short */
	bool keeps_body;
};

/* Replays and keeps the result, even if it is a failure. alike: the other
 * settings that the run stands for; may be NULL. */
enum gp_status gp_sweep_play(const struct gp_sweep_run *run,
			     struct gp_sweep_report_run *kept,
			     struct gp_alike *alike, struct gp_diag *diag);

struct gp_sweep_all_config {
	const struct gp_options *options;
	/* By trace: the part of a run that does not depend on the
	 * combination. */
	const struct gp_sweep_run *runs;
	size_t trace_count;
	size_t threads;
	struct gp_progress *progress;
	const atomic_bool *stop; /* when set, ends with the runs done so far */
};

/* The result; runs are by combination of the grid, then trace, and zero if not
 * made. */
struct gp_sweep_all {
	struct gp_classes classes;
	struct gp_sweep_report_run *runs;
	size_t run_count;
	/* The status of the first failed run. */
	enum gp_status status;
	struct gp_diag diag;
};

/* Replaces each combination of the grid that searches settings by one for each
 * class of values; does nothing if none does. GP_USAGE: the options or an
 * engine do not allow it. */
enum gp_status gp_sweep_all_run(const struct gp_sweep_all_config *config,
				struct gp_grid *grid, struct gp_sweep_all *all,
				struct gp_diag *diag);
/* Accepts a zeroed struct. */
void gp_sweep_all_release(struct gp_sweep_all *all);

#endif
