/* SPDX-License-Identifier: MIT */
/* gpupool bench TRACE: what reading and replaying it take. */
#ifndef CLI_BENCH_TRACE_H
#define CLI_BENCH_TRACE_H

#include "cli/options.h"

enum gp_status gp_bench_trace(const struct gp_options *options,
			      struct gp_diag *diag);

#endif
