/* SPDX-License-Identifier: MIT */
/* What came of replays of the ranks of a job. */
#include "commands/rank_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct gp_rank_run told(const struct gp_replay_result *result)
{
	return (struct gp_rank_run){
		.is_there = result->requests,
		.reserved = result->at_peak.reserved,
		.allocated = gp_replay_peak_allocated(result),
		.ooms = (uint64_t)result->ooms.count,
		.dropped = result->dropped,
		.retries = (uint64_t)result->stats.num_alloc_retries,
		.checked = result->fidelity.checked,
		.matched = result->fidelity.matched,
	};
}

void gp_rank_runs_note(struct gp_rank_runs *runs, struct gp_ranks *ranks,
		       size_t class, const struct gp_plan *plan)
{
	struct gp_rank_class *c = &ranks->classes[class];

	free(c->conf);
	c->conf = gp_mem_copy_text(plan->conf, strlen(plan->conf));
	c->release = plan->settings.release;
	for (size_t d = 0; d < c->trace->device_count; d++)
		runs->runs[c->first_case + d] = told(&plan->results[d]);
}

void gp_rank_runs_trouble(struct gp_rank_runs *runs, size_t class,
			  const struct gp_diag *why)
{
	free(runs->troubles[class]);
	runs->troubles[class] = gp_mem_copy_text(why->what, strlen(why->what));
}
