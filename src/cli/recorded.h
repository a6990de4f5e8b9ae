/* SPDX-License-Identifier: MIT */
/* What a recorded program left: one file of events a process. */
#ifndef CLI_RECORDED_H
#define CLI_RECORDED_H

#include "cli/options.h"

/* Writes the trace of each process in the folder to output or, of several,
 * output.N; replays it and tells on standard error.  The folder is removed. */
enum gp_status gp_recorded_take(const char *folder, const char *output,
				bool quiet, struct gp_diag *diag);

#endif
