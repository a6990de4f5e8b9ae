/* SPDX-License-Identifier: MIT */
/* One combination of a sweep over one trace. */
#include "commands/sweep_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/estimating.h"

static void make_plan(const struct gp_sweep_run *run, struct gp_plan *plan)
{
	const struct gp_combination *c = run->combination;
	const struct gp_trace *trace = run->trace;
	const char *lib = run->torch_lib;

	*plan = (struct gp_plan){
		.trace = trace,
		.settings = c->settings,
		.conf = gp_mem_copy_text(c->conf, strlen(c->conf)),
		.torch_lib = lib ? gp_mem_copy_text(lib, strlen(lib)) : NULL,
		.engine = c->engine,
		.mode = GP_WHAT_IF,
		.cut = run->cut,
		.capacity = gp_mem_alloc(trace->device_count + 1,
					 sizeof(*plan->capacity)),
		.results = gp_mem_alloc(trace->device_count + 1,
					sizeof(*plan->results)),
	};
	for (size_t d = 0; d < trace->device_count; d++)
		plan->capacity[d] =
			c->capacity ? c->capacity : run->recorded->capacity[d];
}

static void keep(const struct gp_sweep_run *run, const struct gp_plan *plan,
		 const struct gp_estimate *estimates, struct gp_book_run *kept)
{
	struct gp_run played = gp_plan_run(plan);
	struct gp_report report = {
		.path = run->path,
		.trace = plan->trace,
		.runs = &played,
		.run_count = 1,
	};

	played.estimates = estimates;
	for (size_t d = 0; d < plan->trace->device_count; d++)
		gp_row_add(&kept->row, &plan->results[d],
			   estimates ? &estimates[d] : NULL, run->prices);
	if (run->keeps_body)
		kept->body = gp_book_body(&report);
}

/* It has no numbers; the others go on. */
static void keep_failure(const struct gp_sweep_run *run,
			 const struct gp_plan *plan, const struct gp_diag *why,
			 struct gp_book_run *kept)
{
	struct gp_run played = gp_plan_run(plan);

	snprintf(kept->row.failure, sizeof(kept->row.failure), "%.*s",
		 GP_FAILURE_TEXT - 1, why->what);
	if (run->keeps_body)
		kept->body = gp_book_failed_body(&played);
}

/* The devices are under the same settings. */
static struct gp_alike alike_of(const struct gp_plan *plan)
{
	struct gp_alike alike = plan->results[0].alike;

	for (size_t d = 1; d < plan->trace->device_count; d++)
		alike = gp_alike_both(&alike, &plan->results[d].alike);
	return alike;
}

enum gp_status gp_sweep_play(const struct gp_sweep_run *run,
			     struct gp_book_run *kept, struct gp_alike *alike,
			     struct gp_diag *diag)
{
	struct gp_estimate *estimates = NULL;
	struct gp_plan plan;
	enum gp_status status;

	make_plan(run, &plan);
	plan.keep_alike = alike != NULL;
	status = gp_plan_play(&plan, NULL, NULL, diag);
	/* Values that are alike from the recorded start may not be so from
	 * another, where estimates come from. */
	if (status == GP_OK && !alike)
		status =
			gp_estimating_make(&plan, run->trace, &estimates, diag);
	if (status == GP_OK)
		keep(run, &plan, estimates, kept);
	else
		keep_failure(run, &plan, diag, kept);
	if (status == GP_OK && alike)
		*alike = alike_of(&plan);
	kept->is_done = true;
	free(estimates);
	gp_plan_release(&plan);
	return status;
}
