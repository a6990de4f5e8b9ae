/* SPDX-License-Identifier: MIT */
/* Which PyTorch a command would use. */
#ifndef COMMANDS_PYTHON_H
#define COMMANDS_PYTHON_H

#include <limits.h>

#include "gpupool/status.h"

struct gp_python_torch {
	char folder[PATH_MAX]; /* .../site-packages/torch */
	unsigned release;      /* 15 of 2.15 */
	char version[40];      /* "2.15.0+cu130" */
};

/* Asks the command's interpreter: itself when it is a python, the one that a
 * script's first line names, one among the command's words, else python3.
 * PyTorch is not imported.  The command ends with NULL. */
enum gp_status gp_python_find_torch(const char *const *command,
				    struct gp_python_torch *torch,
				    struct gp_diag *diag);

#endif
