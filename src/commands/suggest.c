/* SPDX-License-Identifier: MIT */
/* gpupool suggest: the setting under which a trace fits. */
#include "commands/command.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "report/report.h"

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranking ranking; /* under the release and capacity asked */
	struct gp_studying studying;
	struct gp_progress progress;
	uint64_t checked, matched; /* recorded addresses */
};

static enum gp_status plan_as_asked(void *arg, struct gp_plan *plan,
				    const struct gp_trace *trace,
				    const struct gp_options *asked,
				    struct gp_diag *diag)
{
	struct gp_options options = { .command = "suggest",
				      .torch = asked->torch,
				      .capacity = asked->capacity };

	(void)arg;
	return gp_plan_asked(plan, trace, &options, diag);
}

/* Replays as recorded, as far as possible; failure is not an error. */
static void replay_recorded(struct session *s, const struct gp_trace *trace)
{
	struct gp_diag ignored = { 0 };
	struct gp_plan plan = { 0 };

	if (gp_plan_recorded(&plan, trace, &ignored) == GP_OK)
		gp_plan_play(&plan, NULL, &s->progress, &ignored);
	for (size_t i = 0; plan.results && i < trace->device_count; i++) {
		s->checked += plan.results[i].fidelity.checked;
		s->matched += plan.results[i].fidelity.matched;
	}
	gp_plan_release(&plan);
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	const struct gp_study *study = &s->studying.study;
	const struct gp_ranks *ranks = &s->ranking.ranks;
	const struct gp_plan *first = s->ranking.plans;
	size_t worst = gp_verdict_worst(study->verdicts, study->case_count);
	const struct gp_rank_class *class =
		&ranks->classes[gp_ranks_class_of(ranks, worst)];
	struct gp_suggest_report report = {
		.path = class->paths[0],
		.trace = class->trace,
		.ranks = gp_ranking_ranks(&s->ranking),
		.study = study,
		.worst = worst,
		.capacity_below =
			ranks->count == 1 ? s->studying.cases->below : 0,
		.choice = first->has_choice ? &first->choice : NULL,
		.checked = s->checked,
		.matched = s->matched,
	};

	if (s->options->format == GP_FORMAT_JSON)
		gp_report_suggest_json(&report, out);
	else
		gp_report_suggest_text(&report, style, out);
}

static enum gp_status suggest_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	const struct gp_ranking_config config = {
		.options = options,
		.needs_requests = true,
		.make = plan_as_asked,
		.progress = &s.progress,
	};
	enum gp_status status = gp_studying_check(options, diag);

	if (status == GP_OK)
		status = gp_ranking_make(&s.ranking, &config, diag);
	for (size_t i = 0; i < s.ranking.ranks.count && status == GP_OK; i++)
		replay_recorded(&s, s.ranking.ranks.classes[i].trace);
	if (status == GP_OK)
		status = gp_ranking_study(&s.ranking, s.ranking.plans, options,
					  &s.studying, &s.progress, diag);
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s.ranking.ranks, diag);
	gp_studying_release(&s.studying);
	gp_ranking_release(&s.ranking);
	return status;
}

const struct gp_command gp_suggest_command = {
	.name = "suggest",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Find the setting under which a trace fits a device.",
	.about = "Replays the settings that people try, each alone, at the "
		 "capacity, and names the one to use, with its line, its proof "
		 "and its cost. If none helps, it says how much memory is "
		 "missing.\n"
		 "Without --capacity, the device is the recorded one.\n"
		 "TRACE may be a folder: all traces in it. Several traces are "
		 "ranks of one job; those that are alike are replayed once, "
		 "and the setting must serve all of them.",
	.options = "prices torch capacity without format output ascii color "
		   "max-input quiet",
	.run = suggest_command,
};
