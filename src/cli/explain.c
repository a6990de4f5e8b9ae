/* SPDX-License-Identifier: MIT */
/* gpupool explain: why memory that is reserved cannot be used. */
#include "cli/command.h"
#include "cli/explaining.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/report.h"

static void write_as(const struct gp_options *options,
		     const struct gp_plan *plan,
		     const struct gp_explanation *explanation, FILE *out)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_run run = gp_plan_run(plan);
	struct gp_report report = {
		.path = options->operands[0],
		.trace = plan->trace,
		.runs = &run,
		.run_count = 1,
		.explanations = explanation,
	};

	switch (options->format) {
	case GP_FORMAT_JSON: gp_report_explain_json(explanation, out); break;
	case GP_FORMAT_PAGE: gp_report_html(&report, out); break;
	default: gp_report_explain_text(explanation, &style, out);
	}
}

static enum gp_status write_report(const struct gp_options *options,
				   const struct gp_plan *plan,
				   const struct gp_explanation *explanation,
				   struct gp_diag *diag)
{
	struct gp_output output;
	enum gp_status status =
		gp_outlet_open_report(&output, options->output,
				      options->format == GP_FORMAT_TEXT, diag);

	if (status != GP_OK)
		return status;
	write_as(options, plan, explanation, output.stream);
	return gp_outlet_close(&output, status, diag);
}

static enum gp_status explain_all(const struct gp_options *options,
				  struct gp_plan *plan,
				  struct gp_progress *progress,
				  struct gp_diag *diag)
{
	struct gp_explaining explaining;
	struct gp_explanation explanation;
	enum gp_status status =
		gp_explaining_make(&explaining, plan, options, progress, diag);

	explanation = gp_explaining_of(&explaining, plan, options, true);
	if (status == GP_OK && options->format == GP_FORMAT_PAGE) {
		gp_plan_track(plan, GP_TRACK_THIN | GP_TRACK_FILM, NULL, 0);
		status = gp_plan_play(plan, NULL, progress, diag);
		gp_progress_end(progress);
	}
	if (status == GP_OK)
		status = write_report(options, plan, &explanation, diag);
	gp_explaining_release(&explaining);
	return status;
}

static enum gp_status make_plan(const struct gp_options *options,
				const struct gp_trace *trace,
				struct gp_progress *progress,
				struct gp_plan *plan,
				struct gp_what_ifs *what_ifs,
				struct gp_diag *diag)
{
	enum gp_status status = gp_plan_make(plan, trace, options, diag);

	if (status == GP_OK)
		status = gp_plan_alter(plan, options, progress, what_ifs, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, options->operands[0]);
	return status;
}

enum gp_status gp_explain_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options->quiet);
	struct gp_plan plan = { 0 };
	struct gp_what_ifs what_ifs = { 0 };
	struct gp_trace *trace = NULL;
	enum gp_status status = gp_trace_file_read(options->operands[0],
						   &progress, &trace, diag);

	if (status == GP_OK)
		status = make_plan(options, trace, &progress, &plan, &what_ifs,
				   diag);
	if (status == GP_OK)
		status = explain_all(options, &plan, &progress, diag);
	gp_progress_end(&progress);
	gp_plan_release(&plan);
	gp_what_ifs_release(&what_ifs);
	gp_trace_destroy(trace);
	return status;
}
