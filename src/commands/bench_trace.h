/* SPDX-License-Identifier: MIT */
/* gpupool bench TRACE: what reading and replaying it take. */
#ifndef COMMANDS_BENCH_TRACE_H
#define COMMANDS_BENCH_TRACE_H

#include "commands/options.h"

enum gp_status gp_bench_trace(const struct gp_options *options,
			      struct gp_diag *diag);

#endif
