/* SPDX-License-Identifier: MIT */
/* A program that is run, and ends as it likes. */
#ifndef COMMANDS_CHILD_H
#define COMMANDS_CHILD_H

#include <stdbool.h>

#include "gpupool/status.h"

struct gp_child {
	const char *const *command;	   /* ends with NULL */
	void (*prepare)(const void *data); /* in the child, before it runs */
	const void *data;
	int ending; /* as waitpid has it */
};

/* Waits for its end.  Its input and output are ours; signals that are sent to
 * us are passed on to it.  GP_SYSTEM: it could not be run. */
enum gp_status gp_child_run(struct gp_child *child, struct gp_diag *diag);

/* Says on standard error that a signal ended it, when one did. */
void gp_child_repeat_signal(const struct gp_child *child);

/* Whether something that it started is there all the same: what a program
 * leaves is this process's own once gp_child_adopt was called. */
void gp_child_adopt(void);
bool gp_child_left_one(void);

/* Ends this process as a child did.  Without another core file. */
_Noreturn void gp_child_end_as(int ending);

#endif
