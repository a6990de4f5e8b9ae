/* SPDX-License-Identifier: MIT */
/* gpupool info: what is in a trace. */
#include <stdio.h>

#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/trace_file.h"
#include "report/report.h"

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranks ranks;
	struct gp_rank_runs runs; /* of several classes */
	struct gp_progress progress;
};

/* Replays as recorded, for the peak; the rest of the report does not need it.
 */
static enum gp_status play(struct session *s, const struct gp_trace *trace,
			   struct gp_plan *plan, struct gp_diag *reason)
{
	enum gp_status status = gp_plan_recorded(plan, trace, reason);

	if (status == GP_OK)
		status = gp_plan_play(plan, NULL, &s->progress, reason);
	return status;
}

static void play_classes(struct session *s)
{
	gp_rank_runs_init(&s->runs, &s->ranks);
	for (size_t i = 0; i < s->ranks.count; i++) {
		struct gp_plan plan = { 0 };
		struct gp_diag reason = { 0 };

		if (play(s, s->ranks.classes[i].trace, &plan, &reason) == GP_OK)
			gp_rank_runs_note(&s->runs, &s->ranks, i, &plan);
		else
			gp_rank_runs_trouble(&s->runs, i, &reason);
		gp_plan_release(&plan);
	}
}

struct answer {
	const struct gp_options *options;
	struct gp_info info;
};

static void write_info(void *arg, const struct gp_report_style *style,
		       FILE *out)
{
	const struct answer *answer = arg;

	if (answer->options->format == GP_FORMAT_JSON)
		gp_report_info_json(&answer->info, out);
	else
		gp_report_info_text(&answer->info, style, out);
}

/* The worst of the ranks, or the only one. */
static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	bool is_one = s->ranks.files + s->ranks.unread_count == 1;
	size_t worst = s->ranks.count > 1 ? gp_rank_runs_worst(&s->runs) : 0;
	const struct gp_rank_class *class = &s->ranks.classes[worst];
	struct answer answer = {
		.options = s->options,
		.info.path = class->paths[0],
		.info.trace = class->trace,
		.info.ranks = is_one ? NULL : &s->ranks,
		.info.rank_runs = s->ranks.count > 1 ? &s->runs : NULL,
	};
	struct gp_plan plan = { 0 };
	struct gp_diag reason = { 0 };
	enum gp_status status = gp_plan_recorded(&plan, class->trace, &reason);

	if (status == GP_OK) {
		answer.info.choice = &plan.choice;
		status = gp_plan_play(&plan, NULL, &s->progress, &reason);
	}
	if (status == GP_OK)
		answer.info.results = plan.results;
	else
		answer.info.trouble = reason.what;
	gp_progress_end(&s->progress);
	status = gp_outlet_report(s->options, write_info, &answer, diag);
	gp_plan_release(&plan);
	return status;
}

static enum gp_status info_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status =
		gp_rank_files(options->operands, options->operand_count,
			      &s.progress, &s.ranks, diag);

	if (status == GP_OK && s.ranks.count > 1)
		play_classes(&s);
	if (status == GP_OK)
		status = report(&s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s.ranks, diag);
	gp_progress_end(&s.progress);
	gp_rank_runs_release(&s.runs);
	gp_ranks_release(&s.ranks);
	return status;
}

const struct gp_command gp_info_command = {
	.name = "info",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Say what is in a trace.",
	.about = GP_ABOUT_RANKS,
	.options = "format output ascii color max-input quiet",
	.run = info_command,
};
