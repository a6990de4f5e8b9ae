/* SPDX-License-Identifier: MIT */
/* What the calls of a real device took, and whether its memory held. */
#ifndef REPORT_DEVICE_CALLS_H
#define REPORT_DEVICE_CALLS_H

#include "gpupool/replay.h"
#include "report/emit.h"
#include "report/page.h"

/* Prints nothing for a simulated device. */
void gp_device_calls_print(const struct gp_page *page,
			   const struct gp_trace *trace, uint32_t device,
			   const struct gp_replay_result *result);
void gp_device_calls_emit(struct gp_emit *json,
			  const struct gp_replay_result *result);

#endif
