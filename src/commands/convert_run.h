/* SPDX-License-Identifier: MIT */
/* gpupool convert --run: a replay, written for other tools. */
#ifndef COMMANDS_CONVERT_RUN_H
#define COMMANDS_CONVERT_RUN_H

#include "commands/options.h"
#include "gpupool/status.h"

/* out: "-" is standard output. */
enum gp_status gp_convert_run(const struct gp_options *options, const char *out,
			      struct gp_diag *diag);

#endif
