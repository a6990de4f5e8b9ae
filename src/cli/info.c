/* SPDX-License-Identifier: MIT */
/* gpupool info: what is in a trace. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/report.h"

/* Played as recorded, for the peak; what a trace holds can be told without. */
static void play(struct gp_plan *plan, struct gp_info *info,
		 struct gp_progress *progress, struct gp_diag *reason)
{
	enum gp_status status = gp_plan_recorded(plan, info->trace, reason);

	if (status == GP_OK)
		info->choice = &plan->choice;
	if (status == GP_OK)
		status = gp_plan_play(plan, NULL, progress, reason);
	if (status == GP_OK)
		info->results = plan->results;
	else
		info->trouble = reason->what;
}

static enum gp_status write_info(const struct gp_info *info,
				 const struct gp_options *options,
				 struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_output output;
	enum gp_status status =
		gp_outlet_open_report(&output, options->output,
				      options->format == GP_FORMAT_TEXT, diag);

	if (status != GP_OK)
		return status;
	if (options->format == GP_FORMAT_JSON)
		gp_report_info_json(info, output.stream);
	else
		gp_report_info_text(info, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_info_command(const struct gp_options *options,
			       struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options->quiet);
	struct gp_plan plan = { 0 };
	struct gp_diag reason = { 0 };
	struct gp_trace *trace;
	struct gp_info info = { .path = options->operands[0] };
	enum gp_status status = gp_trace_file_read(options->operands[0],
						   &progress, &trace, diag);

	if (status == GP_OK) {
		info.trace = trace;
		play(&plan, &info, &progress, &reason);
		gp_progress_end(&progress);
		status = write_info(&info, options, diag);
		gp_plan_release(&plan);
		gp_trace_destroy(trace);
	}
	gp_progress_end(&progress);
	return status;
}
