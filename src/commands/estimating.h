/* SPDX-License-Identifier: MIT */
/* Estimates for a plan: of the devices whose trace is a window. */
#ifndef COMMANDS_ESTIMATING_H
#define COMMANDS_ESTIMATING_H

#include "commands/plan.h"
#include "study/estimate.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

/* recorded: the plan's trace before what-ifs altered it.  On success *estimates
 * is the caller's, one for each device; NULL where the plan needs none. */
enum gp_status gp_estimating_make(const struct gp_plan *plan,
				  const struct gp_trace *recorded,
				  struct gp_estimate **estimates,
				  struct gp_diag *diag);

#endif
