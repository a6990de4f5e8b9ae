/* SPDX-License-Identifier: MIT */
/* The scenarios, one file each; registered in scenario.c. */
#ifndef TRACE_SCENARIO_SCENARIOS_H
#define TRACE_SCENARIO_SCENARIOS_H

#include "trace/scenario/scenario.h"

extern const struct gp_scenario checkerboard_scenario;
extern const struct gp_scenario ragged_scenario;
extern const struct gp_scenario decoding_scenario;
extern const struct gp_scenario spikes_scenario;
extern const struct gp_scenario tenants_scenario;
extern const struct gp_scenario transformer_scenario;
extern const struct gp_scenario histogram_scenario;

/* A budget's next row; nothing for 0 bytes. */
static inline void budget_add(struct gp_budget *budget, const char *name,
			      uint64_t bytes)
{
	if (bytes && budget->count < GP_BUDGET_ROWS)
		budget->rows[budget->count++] =
			(struct gp_budget_row){ name, bytes };
}

#endif
