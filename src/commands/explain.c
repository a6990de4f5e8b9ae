/* SPDX-License-Identifier: MIT */
/* gpupool explain: why reserved memory cannot be used. */
#include "commands/command.h"
#include "commands/live_page.h"
#include "commands/studying.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "report/report.h"

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranking ranking;
	struct gp_explaining explaining; /* of the worst of the ranks */
	struct gp_explanation explanation;
	struct gp_live_parts live; /* for pages */
	struct gp_progress progress;
};

/* ---- the worst of the ranks ---- */

static size_t worst_of(const struct session *s)
{
	return gp_ranking_worst(&s->ranking, &s->explaining.studying);
}

static enum gp_status explain_worst(struct session *s, struct gp_diag *diag)
{
	size_t worst = worst_of(s);
	const struct gp_rank_class *class = &s->ranking.ranks.classes[worst];
	const struct gp_plan *plan = &s->ranking.plans[worst];
	enum gp_status status;

	s->explaining.first_case = class->first_case;
	status =
		gp_explaining_devices(&s->explaining, plan, &s->progress, diag);
	s->explanation =
		gp_explaining_of(&s->explaining, plan, s->options, true);
	s->explanation.path = class->paths[0];
	s->explanation.operand = gp_ranking_operand(s->options, class);
	s->explanation.ranks = gp_ranking_ranks(&s->ranking);
	s->explanation.first_case = class->first_case;
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, class->paths[0]);
	return status;
}

/* For a page: replays the worst rank with a film, and adds the parts that
 * replay in the page. */
static enum gp_status film_worst(struct session *s, struct gp_diag *diag)
{
	struct gp_plan *plan = &s->ranking.plans[worst_of(s)];
	enum gp_status status;

	if (s->options->format != GP_FORMAT_HTML)
		return GP_OK;
	gp_plan_track(plan, GP_TRACK_THIN | GP_TRACK_FILM, NULL, 0);
	status = gp_plan_play(plan, NULL, &s->progress, diag);
	gp_progress_end(&s->progress);
	if (status == GP_OK)
		status = gp_live_parts_make(
			&s->live, s->options, &s->ranking.ranks,
			gp_plan_is_asked(s->options) ? plan : NULL, diag);
	return status;
}

/* ---- the report ---- */

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	const struct gp_plan *plan = &s->ranking.plans[worst_of(s)];
	struct gp_run run = gp_plan_run(plan);
	struct gp_report report = {
		.path = s->explanation.path,
		.trace = plan->trace,
		.runs = &run,
		.run_count = 1,
		.explanations = &s->explanation,
		.ranks = s->explanation.ranks,
		.live = &s->live.page,
	};

	switch (s->options->format) {
	case GP_FORMAT_JSON:
		gp_report_explain_json(&s->explanation, out);
		break;
	case GP_FORMAT_HTML: gp_report_html(&report, out); break;
	default: gp_report_explain_text(&s->explanation, style, out);
	}
}

static enum gp_status explain_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	const struct gp_ranking_config config = {
		.options = options,
		.progress = &s.progress,
	};
	enum gp_status status = gp_studying_check(options, diag);

	if (status == GP_OK)
		status = gp_ranking_make(&s.ranking, &config, diag);
	if (status == GP_OK)
		status = gp_ranking_alter(&s.ranking, options, &s.progress,
					  diag);
	if (status == GP_OK)
		status = gp_ranking_study(&s.ranking, s.ranking.plans, options,
					  &s.explaining.studying, &s.progress,
					  diag);
	if (status == GP_OK)
		status = explain_worst(&s, diag);
	if (status == GP_OK)
		status = film_worst(&s, diag);
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s.ranking.ranks, diag);
	gp_explaining_release(&s.explaining);
	gp_live_parts_release(&s.live);
	gp_ranking_release(&s.ranking);
	return status;
}

static const struct gp_option explain_options[] = {
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|html",
	  "For people, for programs, for an issue (short: md), or as a page "
	  "for a browser." },
	{ "details", 0, GP_OPTION_FLAG, GP_AT(details), NULL,
	  "Everything that the first screen summarises." },
	{ 0 },
};

const struct gp_command gp_explain_command = {
	.name = "explain",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Say why memory ran out, or why it is fragmented.",
	.about = "At the first request that was not served, or at the peak: "
		 "whether it is fragmentation or capacity, which settings "
		 "help, where the memory is that is reserved and not "
		 "allocated, and which blocks pin it.\n"
		 "Everything that is said to help was replayed, with the same "
		 "capacity. Settings, a release or a capacity make it a "
		 "what-if.\n" GP_ABOUT_RANKS,
	.options = "alloc-conf prices torch capacity without format output "
		   "details ascii color max-input quiet",
	.own = explain_options,
	.takes_settings = true,
	.takes_what_ifs = true,
	.run = explain_command,
};
