/* SPDX-License-Identifier: MIT */
/* gpupool TRACE: what went wrong and what helps, on one screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/quote.h"
#include "base/text_sink.h"
#include "cli/command.h"
#include "cli/explaining.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/studying.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/explain.h"
#include "gpupool/floor.h"
#include "gpupool/report.h"

/* All that one call of the command holds. */
struct session {
	const struct gp_options *options;
	const char *path;
	struct gp_trace *trace;
	struct gp_plan recorded; /* replayed for its fidelity */
	bool is_recorded;	 /* it could be */
	struct gp_diag trouble;	 /* why not */
	struct gp_plan asked;
	struct gp_studying studying;
	struct gp_explain explain; /* of the device that decides */
	struct gp_progress progress;
	char given[GP_GIVEN_TEXT];
	char *given_explain; /* owned */
	struct gp_look_report report;
};

/* ---- what is asked ---- */

/* All options that change the answer, for gpupool explain. */
static char *make_given(const struct session *s)
{
	const struct gp_options *o = s->options;
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	char *word = NULL;

	fputs(s->given, out);
	if (o->alloc_conf || o->knobs) {
		size_t room = 4 * strlen(s->asked.conf) + 8;

		word = gp_mem_alloc(room, 1);
		fprintf(out, " --alloc-conf %s",
			gp_quote_shell(s->asked.conf, word, room));
		free(word);
	}
	for (size_t i = 0; i < o->without.count; i++)
		fprintf(out, " --without %s", o->without.items[i]);
	if (o->prices)
		fprintf(out, " --prices %s", o->prices);
	return gp_text_sink_close(&sink, out);
}

/* As far as it can be replayed as recorded: that it cannot is no failure. */
static void replay_recorded(struct session *s)
{
	s->is_recorded = gp_plan_recorded(&s->recorded, s->trace,
					  &s->trouble) == GP_OK &&
			 gp_plan_play(&s->recorded, NULL, &s->progress,
				      &s->trouble) == GP_OK;
}

/* As recorded, or as asked; what cannot be replayed as recorded is asked. */
static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	if (s->is_recorded)
		return gp_plan_make(&s->asked, s->trace, s->options, diag);
	return gp_plan_asked(&s->asked, s->trace, s->options, diag);
}

static void show(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

static enum gp_status explain_worst(struct session *s, struct gp_diag *diag)
{
	const struct gp_study *study = &s->studying.study;
	struct gp_replay_config run;
	struct gp_explain_config config = {
		.run = &run,
		.skip_attempts = true,
		.progress = show,
		.progress_arg = &s->progress,
	};

	if (!study->case_count)
		return GP_OK;
	s->report.worst = gp_verdict_worst(study->verdicts, study->case_count);
	run = gp_plan_simulated(&s->asked, (uint32_t)s->report.worst);
	return gp_explain(&config, &s->explain, diag);
}

/* ---- the kinds of input ---- */

static enum gp_status look_at_trace(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_trace_file_read(s->path, &s->progress, &s->trace, diag);

	if (status != GP_OK)
		return status;
	replay_recorded(s);
	status = make_plan(s, diag);
	if (status == GP_OK)
		status = gp_studying_make(&s->studying, &s->asked, s->options,
					  &s->progress, diag);
	if (status == GP_OK)
		status = explain_worst(s, diag);
	gp_progress_end(&s->progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static enum gp_status look_at_spans(struct session *s, struct gp_diag *diag)
{
	struct gp_spans spans;
	uint64_t time;
	enum gp_status status = gp_spans_read(s->path, &spans, diag);

	if (status != GP_OK)
		return status;
	s->report.spans = spans.count;
	s->report.spans_live = gp_floor_bound(&spans, &time);
	gp_spans_release(&spans);
	return GP_OK;
}

static enum gp_status refuse_folder(const char *path, struct gp_diag *diag)
{
	gp_diag_file(diag, path);
	gp_diag_hint(diag,
		     "one trace: gpupool %s/FILE; ranks of one job: gpupool "
		     "sweep %s",
		     path, path);
	return gp_diag_set(diag, GP_INPUT, "it is a folder");
}

static enum gp_status check_operands(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct stat about;

	if (options->operand_count > 1) {
		gp_diag_file(diag, GP_COMMAND_OF_TRACE);
		gp_diag_hint(diag, "ranks of one job: gpupool sweep A B; a "
				   "change in memory: gpupool diff A B");
		return gp_diag_set(diag, GP_USAGE,
				   "it looks at one trace at a time");
	}
	if (!stat(options->operands[0], &about) && S_ISDIR(about.st_mode))
		return refuse_folder(options->operands[0], diag);
	return gp_studying_check(GP_COMMAND_OF_TRACE, options, diag);
}

/* ---- told ---- */

static enum gp_status write_report(struct session *s, struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(s->options);
	struct gp_look_report *r = &s->report;
	struct gp_output output;
	enum gp_status status = gp_outlet_open_report(
		&output, s->options->output,
		s->options->format == GP_FORMAT_TEXT, diag);

	if (status != GP_OK)
		return status;
	gp_explaining_given(s->options, s->given);
	s->given_explain = make_given(s);
	r->path = s->path;
	r->trace = s->trace;
	r->conf = s->asked.conf;
	r->study = &s->studying.study;
	r->explain = &s->explain;
	r->choice = s->asked.has_choice ? &s->asked.choice : NULL;
	r->trouble = s->trouble.what;
	r->given = s->given;
	r->given_explain = s->given_explain ? s->given_explain : "";
	if (s->is_recorded && s->trace->device_count)
		r->recorded = &s->recorded.results[r->worst];
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_look_json(r, output.stream);
	else
		gp_report_look_text(r, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

static void release(struct session *s)
{
	gp_explain_release(&s->explain);
	gp_studying_release(&s->studying);
	gp_plan_release(&s->asked);
	gp_plan_release(&s->recorded);
	gp_trace_destroy(s->trace);
	free(s->given_explain);
}

enum gp_status gp_look_command(const struct gp_options *options,
			       struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = check_operands(options, diag);

	if (status == GP_OK)
		status = gp_spans_is_csv(s.path) ? look_at_spans(&s, diag)
						 : look_at_trace(&s, diag);
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = write_report(&s, diag);
	release(&s);
	return status;
}
