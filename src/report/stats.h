/* SPDX-License-Identifier: MIT */
/*
 * torch.cuda.memory_stats(), key for key, in that function's order.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stdint.h>

#include "report/number.h"
#include "gpupool/replay.h"
#include "gpupool/trace.h"
#include "report/emit.h"

/* The same as an object of JSON. */
void gp_emit_stats(struct gp_emit *json, const char *key,
		   const struct gp_trace *trace,
		   const struct gp_replay_result *result, uint8_t release);

#endif
