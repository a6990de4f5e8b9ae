/* SPDX-License-Identifier: MIT */
/* One combination of a sweep over one trace. */
#ifndef COMMANDS_SWEEP_RUN_H
#define COMMANDS_SWEEP_RUN_H

#include "commands/plan.h"
#include "report/book.h"

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
			     struct gp_book_run *kept, struct gp_alike *alike,
			     struct gp_diag *diag);

#endif
