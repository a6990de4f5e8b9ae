/* SPDX-License-Identifier: MIT */
/* One run of the gate: played, recorded and judged. */
#ifndef COMMANDS_CHECK_RUN_H
#define COMMANDS_CHECK_RUN_H

#include "base/arena.h"
#include "report/gate_report.h"

struct gp_check_config {
	const struct gp_gate *gate;
	const struct gp_numbers *numbers;
	const struct gp_baseline *baseline;
	struct gp_arena *arena; /* of what the result points to */
	uint64_t max_input;	/* struct gp_input_config's most_bytes */
	bool is_update;		/* nothing is judged */
};

/* On any thread.  Fills result, whose status and diag say what did not go well.
 */
void gp_check_run(const struct gp_check_config *config,
		  const struct gp_gate_run *run, struct gp_gate_result *result);

#endif
