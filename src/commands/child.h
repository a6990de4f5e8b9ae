/* SPDX-License-Identifier: MIT */
/* Running a program and waiting for its end. */
#ifndef COMMANDS_CHILD_H
#define COMMANDS_CHILD_H

#include <stdbool.h>

#include "gpupool/status.h"

struct gp_child {
	const char *const *command;	   /* ends with NULL */
	void (*prepare)(const void *data); /* in the child, before it runs */
	const void *data;
	int ending; /* as from waitpid */
};

/* Runs it and waits for its end. It shares our input and output; signals sent
 * to us are passed on to it. GP_SYSTEM: it could not be run. */
enum gp_status gp_child_run(struct gp_child *child, struct gp_diag *diag);

/* Prints to standard error if a signal ended it. */
void gp_child_repeat_signal(const struct gp_child *child);

/* Whether a process that the child started is still running: after
 * gp_child_adopt, orphans become children of this process. */
void gp_child_adopt(void);
bool gp_child_left_one(void);

/* Ends this process as the child ended, without another core file. */
_Noreturn void gp_child_end_as(int ending);

#endif
