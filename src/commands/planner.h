/* SPDX-License-Identifier: MIT */
/*
 * The real cuDNN, asked for plans and workspaces while a program is recorded: a
 * process that listens; each that connects has one of its own, which loads the
 * library.
 */
#ifndef COMMANDS_PLANNER_H
#define COMMANDS_PLANNER_H

#include <limits.h>
#include <sys/types.h>

#include "gpupool/status.h"
#include "record/record.h"

struct gp_planner {
	char library[PATH_MAX]; /* "": there is none */
	char socket[PATH_MAX + 16];
	pid_t pid;
};

/*
 * Which library: the one that --cudnn names, none for "none", or else the one
 * that is installed with the PyTorch in this folder.
 */
enum gp_status gp_planner_find(struct gp_planner *planner, const char *wanted,
			       const char *torch, struct gp_diag *diag);
/* Listens in the source's folder; SIMCUDA_PLANS is the socket's path.  Which
 * library is known.  Where that cannot be, as on file systems without sockets,
 * it says so, and the program runs without. */
void gp_planner_start(struct gp_planner *planner,
		      const struct gp_plans_source *source);
/* Nothing where none was started.  Processes that still run are answered until
 * they end. */
void gp_planner_stop(struct gp_planner *planner);

#endif
