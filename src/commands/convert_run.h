/* SPDX-License-Identifier: MIT */
/* gpupool convert --run: a replay, written for other tools. */
#ifndef COMMANDS_CONVERT_RUN_H
#define COMMANDS_CONVERT_RUN_H

#include "commands/options.h"
#include "gpupool/status.h"

/* Whether --run writes it, and nothing else does. */
bool gp_convert_is_of_runs(enum gp_format format);

/* out: "-" is standard output. */
enum gp_status gp_convert_run(const struct gp_options *options, const char *out,
			      struct gp_diag *diag);

#endif
