/* SPDX-License-Identifier: MIT */
/*
 * What came of replays of the ranks of a job, each by itself: for commands that
 * tell of the worst one and show how the others differ.
 */
#ifndef COMMANDS_RANK_RUNS_H
#define COMMANDS_RANK_RUNS_H

#include "commands/plan.h"
#include "trace/ranks.h"

/* A plan of the class, played. */
void gp_rank_runs_note(struct gp_rank_runs *runs, struct gp_ranks *ranks,
		       size_t class, const struct gp_plan *plan);
/* It could not be played. */
void gp_rank_runs_trouble(struct gp_rank_runs *runs, size_t class,
			  const struct gp_diag *why);

#endif
