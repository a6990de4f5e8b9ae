/* SPDX-License-Identifier: MIT */
/* gpupool suggest: the setting under which a trace fits. */
#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/studying.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/report.h"

/* All that one call of the command holds. */
struct session {
	const struct gp_options *options;
	const char *path;
	struct gp_trace *trace;
	struct gp_plan recorded; /* replayed for its fidelity */
	struct gp_plan asked;	 /* release and capacity */
	struct gp_studying studying;
	struct gp_progress progress;
};

static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	struct gp_options options = { .command = "suggest",
				      .torch = s->options->torch,
				      .capacity = s->options->capacity };

	return gp_plan_asked(&s->asked, s->trace, &options, diag);
}

/* As far as it can be replayed as recorded: that it cannot is no failure. */
static void replay_recorded(struct session *s)
{
	struct gp_diag ignored = { 0 };

	if (gp_plan_recorded(&s->recorded, s->trace, &ignored) == GP_OK)
		gp_plan_play(&s->recorded, NULL, &s->progress, &ignored);
}

static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(s->options);
	const struct gp_study *study = &s->studying.study;
	struct gp_suggest_report report = {
		.path = s->path,
		.trace = s->trace,
		.study = study,
		.verdict = &study->verdicts[gp_verdict_worst(
			study->verdicts, study->case_count)],
		.capacity_below = s->studying.capacity_below,
		.choice = s->asked.has_choice ? &s->asked.choice : NULL,
		.prices = s->studying.prices,
	};
	struct gp_output output;
	enum gp_status status =
		gp_outlet_open(&output, s->options->output, diag);

	if (status != GP_OK)
		return status;
	for (size_t i = 0; s->recorded.results && i < s->trace->device_count;
	     i++) {
		report.checked += s->recorded.results[i].fidelity.checked;
		report.matched += s->recorded.results[i].fidelity.matched;
	}
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_suggest_json(&report, output.stream);
	else
		gp_report_suggest_text(&report, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_suggest_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = gp_studying_check("suggest", options, diag);

	if (status == GP_OK)
		status = gp_trace_file_read_requests(s.path, &s.progress,
						     &s.trace, diag);
	if (status == GP_OK)
		status = make_plan(&s, diag);
	if (status == GP_OK)
		replay_recorded(&s);
	if (status == GP_OK)
		status = gp_studying_make(&s.studying, &s.asked, options,
					  &s.progress, diag);
	gp_progress_end(&s.progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s.path);
	if (status == GP_OK)
		status = report(&s, diag);
	gp_studying_release(&s.studying);
	gp_plan_release(&s.recorded);
	gp_plan_release(&s.asked);
	gp_trace_destroy(s.trace);
	return status;
}
