/* SPDX-License-Identifier: MIT */
/* Estimates for a plan. */
#include "commands/estimating.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gpupool/replay.h"

static uint8_t release_of(const struct gp_trace *recorded, const char *conf)
{
	struct gp_release_choice choice;
	struct gp_diag ignored = { 0 };

	if (gp_replay_release_of(recorded, conf, &choice, &ignored) != GP_OK)
		return recorded->release.last;
	return choice.release;
}

enum gp_status gp_estimating_make(const struct gp_plan *plan,
				  const struct gp_trace *recorded,
				  struct gp_estimate **estimates,
				  struct gp_diag *diag)
{
	const char *conf = recorded->settings ? recorded->settings : "";
	enum gp_status status = GP_OK;
	struct gp_estimate *made;
	uint8_t release;

	*estimates = NULL;
	if (plan->cuda || plan->mode != GP_WHAT_IF ||
	    !gp_trace_has_start(recorded))
		return GP_OK;
	release = release_of(recorded, conf);
	made = gp_mem_alloc(recorded->device_count, sizeof(*made));
	for (uint32_t i = 0; i < recorded->device_count && status == GP_OK;
	     i++) {
		struct gp_replay_config config = gp_plan_simulated(plan, i);

		status = gp_estimate(&config, conf, release, &made[i], diag);
	}
	if (status == GP_OK)
		*estimates = made;
	else
		free(made);
	return status;
}
