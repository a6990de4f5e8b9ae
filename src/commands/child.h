/* SPDX-License-Identifier: MIT */
/* A program that is run, and ends as it likes. */
#ifndef COMMANDS_CHILD_H
#define COMMANDS_CHILD_H

#include "gpupool/status.h"

struct gp_child {
	const char *const *command;	   /* ends with NULL */
	void (*prepare)(const void *data); /* in the child, before it runs */
	const void *data;
	int ending; /* as waitpid has it */
};

/* Waits for its end.  Its input and output are ours; signals that are sent to
 * us are passed on to it. */
enum gp_status gp_child_run(struct gp_child *child, struct gp_diag *diag);

/* Says on standard error that a signal ended it, when one did. */
void gp_child_tell_signal(const struct gp_child *child);

/* Ends this process as the child ended. */
_Noreturn void gp_child_end_as(const struct gp_child *child);

#endif
