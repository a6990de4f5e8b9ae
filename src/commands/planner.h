/* SPDX-License-Identifier: MIT */
/* Asks the real cuDNN for plans and workspaces while a program is recorded: a
 * process listens, and forks for each connection a process that loads the
 * library. */
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

/* Chooses the library: the one that --cudnn names, none for "none", else the
 * one installed with the PyTorch in this folder. */
enum gp_status gp_planner_find(struct gp_planner *planner, const char *wanted,
			       const char *torch, struct gp_diag *diag);
/* Listens in the source's folder and sets SIMCUDA_PLANS to the socket's path;
 * gp_planner_find comes first. If it cannot, as on file systems without
 * sockets, it says so, and the program runs without. */
void gp_planner_start(struct gp_planner *planner,
		      const struct gp_plans_source *source);
/* Nothing if none was started. Connected processes are served until they end.
 */
void gp_planner_stop(struct gp_planner *planner);

#endif
