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
 * one that was installed with the PyTorch in this folder. */
enum gp_status gp_planner_find(struct gp_planner *planner, const char *wanted,
			       const char *torch, struct gp_diag *diag);
/* Listens in the source's folder and sets SIMCUDA_PLANS to the socket's path;
 * to be called after gp_planner_find. If that is not possible, as on file
 * systems without sockets, it says so, and the program runs without plans. */
void gp_planner_start(struct gp_planner *planner,
		      const struct gp_plans_source *source);
/* Does nothing if no planner was started. Connected processes are served until
 * they end. */
void gp_planner_stop(struct gp_planner *planner);

#endif
