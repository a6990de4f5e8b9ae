/* SPDX-License-Identifier: MIT */
/* gpupool TRACE: what went wrong and what helps, on one screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/studying.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "study/metrics/explain.h"
#include "study/floor/floor.h"
#include "report/report.h"

/* A trace replayed as recorded, for its fidelity. */
struct recorded {
	const struct gp_trace *trace;
	struct gp_plan plan;
	bool is_there;		/* it could be */
	struct gp_diag trouble; /* why it could not */
};

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranking ranking; /* as asked for, or as recorded */
	struct recorded *recorded;
	size_t recorded_count, recorded_room;
	struct gp_studying studying;
	struct gp_explain explain; /* of the device that decides */
	struct gp_progress progress;
	char given[GP_GIVEN_TEXT];
	char *given_replay, *given_explain; /* owned */
	struct gp_look_report report;
	struct gp_log_report log; /* path NULL: the input is a trace */
	struct oom_logged *logs;  /* owned */
	size_t log_count, log_room;
	char *folder; /* owned: folder of the files that are not traces */
};

/* ---- what is asked ---- */

static bool has_settings(const struct session *s)
{
	return s->options->alloc_conf || s->options->knobs;
}

/* The options that change the answer, as text for suggested commands: for the
 * judge's commands, or for a replay. */
static char *make_given(const struct session *s, const struct gp_plan *asked,
			bool is_judged)
{
	const struct gp_options *o = s->options;
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	char *word = NULL;

	fputs(s->given, out);
	if (has_settings(s)) {
		size_t room = 4 * strlen(asked->conf) + 8;

		word = gp_mem_alloc(room, 1);
		fprintf(out, " --alloc-conf %s",
			gp_quote_shell(asked->conf, word, room));
		free(word);
	}
	for (size_t i = 0; is_judged && i < o->without.count; i++)
		fprintf(out, " --without %s", o->without.items[i]);
	if (is_judged && o->prices)
		fprintf(out, " --prices %s", o->prices);
	return gp_text_sink_close(&sink, out);
}

/* Replays as recorded, as far as possible; failure is not an error. */
static const struct recorded *replay_recorded(struct session *s,
					      const struct gp_trace *trace)
{
	struct recorded *r;

	GP_GROW(s->recorded, s->recorded_count + 1, s->recorded_room);
	r = &s->recorded[s->recorded_count++];
	*r = (struct recorded){ .trace = trace };
	r->is_there = gp_plan_recorded(&r->plan, trace, &r->trouble) == GP_OK &&
		      gp_plan_play(&r->plan, NULL, &s->progress, &r->trouble) ==
			      GP_OK;
	return r;
}

static const struct recorded *recorded_of(const struct session *s,
					  const struct gp_trace *trace)
{
	size_t i = 0;

	while (s->recorded[i].trace != trace)
		i++;
	return &s->recorded[i];
}

/* Makes the plan; a trace that cannot be replayed as recorded is replayed as a
 * what-if. */
static enum gp_status make_plan(void *arg, struct gp_plan *plan,
				const struct gp_trace *trace,
				const struct gp_options *options,
				struct gp_diag *diag)
{
	if (replay_recorded(arg, trace)->is_there)
		return gp_plan_make(plan, trace, options, diag);
	return gp_plan_asked(plan, trace, options, diag);
}

static void show(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

/* The class whose verdict is the worst. */
static size_t worst_class(const struct session *s)
{
	return gp_ranks_class_of(&s->ranking.ranks, s->report.worst);
}

static enum gp_status explain_worst(struct session *s, struct gp_diag *diag)
{
	const struct gp_study *study = &s->studying.study;
	struct gp_look_report *report = &s->report;
	struct gp_replay_config run;
	struct gp_explain_config config = {
		.run = &run,
		.skip_attempts = true,
		.look_at_fullest = true,
		.look_at_most_use = true,
		.progress = show,
		.progress_arg = &s->progress,
	};
	const struct gp_rank_class *class;

	report->worst = gp_verdict_worst(study->verdicts, study->case_count);
	class = &s->ranking.ranks.classes[worst_class(s)];
	report->device = (uint32_t)(report->worst - class->first_case);
	if (!study->case_count)
		return GP_OK;
	config.is_too_small =
		study->verdicts[report->worst].kind == GP_VERDICT_TOO_SMALL;
	run = gp_explaining_run(&s->ranking.plans[worst_class(s)],
				report->device,
				&study->verdicts[report->worst]);
	return gp_explain(&config, &s->explain, diag);
}

/* ---- traces and logs ---- */

static enum gp_status look_at_traces(struct session *s, struct gp_diag *diag)
{
	const struct gp_ranking_config config = {
		.options = s->options,
		.make = make_plan,
		.arg = s,
		.progress = &s->progress,
	};
	enum gp_status status = gp_ranking_make(&s->ranking, &config, diag);

	if (status == GP_OK)
		status = gp_ranking_study(&s->ranking, s->ranking.plans,
					  s->options, &s->studying,
					  &s->progress, diag);
	if (status == GP_OK)
		status = explain_worst(s, diag);
	gp_progress_end(&s->progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->options->operands[0]);
	return status;
}

static enum gp_status look_at_spans(struct session *s, struct gp_diag *diag)
{
	struct gp_spans spans;
	uint64_t time;
	enum gp_status status =
		gp_spans_read(s->options->operands[0], &spans, diag);

	if (status != GP_OK)
		return status;
	s->report.spans = spans.count;
	s->report.spans_live = gp_floor_bound(&spans, &time);
	gp_spans_release(&spans);
	return GP_OK;
}

/* Whether the options can only be answered from a trace. */
static bool asks_for_replay(const struct gp_options *options)
{
	return gp_plan_is_asked(options) || options->without.count ||
	       options->prices;
}

/* Shortens the folder to one that also contains the path. */
static void share_folder(struct session *s, const char *path)
{
	size_t end = 0;

	if (!s->folder)
		s->folder = gp_mem_copy_text(path, strlen(path));
	for (size_t i = 0; path[i] && path[i] == s->folder[i]; i++)
		if (path[i] == '/')
			end = i + 1;
	s->folder[end] = '\0';
}

/* A file that is not a trace is searched while it is being read: standard input
 * cannot be read again. */
static void take_unknown(void *arg, struct gp_source *source)
{
	struct session *s = arg;
	const char *path = source->config->path;
	struct oom_logged log = { 0 };

	s->log.files++;
	share_folder(s, path);
	if (!oom_log_scan(source, &log.message))
		return;
	log.path = gp_mem_copy_text(path, strlen(path));
	log.conclusion = oom_log_conclude(&log.message);
	GP_GROW(s->logs, s->log_count + 1, s->log_room);
	s->logs[s->log_count++] = log;
}

/* Reports on logs if no input is a trace. */
static enum gp_status look_at_logs(struct session *s, enum gp_status status,
				   struct gp_diag *diag)
{
	const struct gp_options *o = s->options;
	struct gp_log_report *r = &s->log;

	if (!diag->is_foreign || !s->log_count)
		return status;
	r->path = o->operands[0];
	r->logs = s->logs;
	r->count = s->log_count;
	r->first = oom_logs_first(s->logs, s->log_count, &r->is_by_time);
	r->folder = strlen(s->folder);
	r->has_several =
		o->operand_count > 1 || gp_file_is_folder(o->operands[0]);
	*diag = (struct gp_diag){ 0 };
	return GP_OK;
}

/* ---- the report ---- */

static void describe(struct session *s)
{
	size_t worst = worst_class(s);
	const struct gp_rank_class *class = &s->ranking.ranks.classes[worst];
	const struct gp_plan *plan = &s->ranking.plans[worst];
	const struct recorded *recorded = recorded_of(s, class->trace);
	struct gp_look_report *r = &s->report;

	r->study = &s->studying.study;
	r->given = gp_explaining_given(
		s->options, r->study->case_count ? plan : NULL, r->device,
		r->study->verdicts + r->worst, s->given);
	s->given_replay = make_given(s, plan, false);
	s->given_explain = make_given(s, plan, true);
	r->path = class->paths[0];
	r->operand = gp_ranking_operand(s->options, class);
	r->ranks = gp_ranking_ranks(&s->ranking);
	r->trace = class->trace;
	r->conf = plan->conf;
	r->explain = &s->explain;
	r->choice = plan->has_choice ? &plan->choice : NULL;
	r->trouble = recorded->trouble.what;
	r->given_replay = s->given_replay ? s->given_replay : "";
	r->given_explain = s->given_explain ? s->given_explain : "";
	r->given_suggest = has_settings(s) ? NULL : r->given_explain;
	if (recorded->is_there && class->trace->device_count)
		r->recorded = &recorded->plan.results[r->device];
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	struct session *s = arg;

	if (s->log.path && s->options->format == GP_FORMAT_JSON) {
		gp_report_log_json(&s->log, out);
		return;
	}
	if (s->log.path) {
		gp_report_log_text(&s->log, style, out);
		return;
	}
	s->report.path = s->report.operand = s->options->operands[0];
	if (s->ranking.ranks.count)
		describe(s);
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_look_json(&s->report, out);
	else
		gp_report_look_text(&s->report, style, out);
}

static void release(struct session *s)
{
	gp_explain_release(&s->explain);
	gp_studying_release(&s->studying);
	for (size_t i = 0; i < s->recorded_count; i++)
		gp_plan_release(&s->recorded[i].plan);
	free(s->recorded);
	gp_ranking_release(&s->ranking);
	for (size_t i = 0; i < s->log_count; i++)
		free(s->logs[i].path);
	free(s->logs);
	free(s->folder);
	free(s->given_replay);
	free(s->given_explain);
}

static bool is_spans(const struct gp_options *options)
{
	return options->operand_count == 1 &&
	       gp_spans_is_csv(options->operands[0]);
}

static enum gp_status look_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = gp_studying_check(options, diag);

	/* A file that is not a trace may be the log of a program that ran out
	 * of memory. */
	if (!asks_for_replay(options)) {
		s.progress.unknown.take = take_unknown;
		s.progress.unknown.arg = &s;
	}
	if (status == GP_OK)
		status = is_spans(options) ? look_at_spans(&s, diag)
					   : look_at_traces(&s, diag);
	gp_progress_end(&s.progress);
	if (status != GP_OK)
		status = look_at_logs(&s, status, diag);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s.ranking.ranks, diag);
	release(&s);
	return status;
}

const struct gp_command gp_look_command = {
	.name = "look",
	.operands = "TRACE...",
	.least = 1,
	.most = SIZE_MAX,
	.sentence = "Say on one screen what went wrong and what helps.",
	.about = "The same as gpupool TRACE: the verdict, the line to paste, "
		 "who holds the memory when it ran out, or at the peak, how "
		 "far to trust the answer, and the commands that show more.\n"
		 "If nothing was recorded, a log with the message of PyTorch's "
		 "OutOfMemoryError is enough, or a folder of the logs of all "
		 "ranks.\n"
		 "Its long form is gpupool explain. Settings, a release or a "
		 "capacity make it a what-if.\n" GP_ABOUT_RANKS,
	.options = "alloc-conf prices torch capacity without format output "
		   "ascii color max-input quiet",
	.takes_settings = true,
	.run = look_command,
};
