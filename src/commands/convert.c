/* SPDX-License-Identifier: MIT */
/* gpupool convert: a trace in another format, or a run for other tools. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "gpupool/status.h"
#include "report/exchange/exchange.h"
#include "report/page.h"

/* ---- a run: its formats ---- */

static const struct {
	const char *suffix;
	enum gp_format asked;
	enum gp_exchange_format format;
} forms[] = {
	{ ".pickle", GP_FORMAT_PICKLE, GP_EXCHANGE_PICKLE },
	{ ".pkl", GP_FORMAT_PICKLE, GP_EXCHANGE_PICKLE },
	{ ".perfetto.json", GP_FORMAT_PERFETTO, GP_EXCHANGE_PERFETTO },
	{ ".speedscope.json", GP_FORMAT_SPEEDSCOPE, GP_EXCHANGE_SPEEDSCOPE },
	{ ".folded", GP_FORMAT_FOLDED, GP_EXCHANGE_FOLDED },
	{ ".csv", GP_FORMAT_CSV, GP_EXCHANGE_CSV },
};
#define FORMS (sizeof(forms) / sizeof(*forms))

struct conversion {
	const struct gp_options *options;
	const char *path, *out;
	enum gp_exchange_format format;
	enum gp_packing packing;
	struct gp_trace *trace;
	struct gp_plan plan;
	struct gp_what_ifs what_ifs;
	struct gp_output output;
	struct gp_progress progress;
};

/* The index of a format of runs; FORMS: it is a format of traces. */
static size_t form_of(enum gp_format asked)
{
	size_t i = 0;

	while (i < FORMS && forms[i].asked != asked)
		i++;
	return i;
}

/* Whether the format is written only with --run. */
static bool is_of_runs(enum gp_format format)
{
	return form_of(format) < FORMS;
}

/* The same, by the suffix of a file's name. */
static size_t form_named(const char *path, size_t length)
{
	size_t i = 0;

	while (i < FORMS && !gp_path_ends(path, length, forms[i].suffix))
		i++;
	return i;
}

static enum gp_status by_name(struct conversion *s, size_t length,
			      struct gp_diag *diag)
{
	size_t form = form_named(s->out, length);

	if (form < FORMS) {
		s->format = forms[form].format;
		return GP_OK;
	}
	gp_diag_file(diag, "convert");
	gp_diag_hint(diag, "give --to pickle, perfetto, speedscope, folded or "
			   "csv");
	return gp_diag_set(diag, GP_USAGE,
			   "the ending of %s is not a format of runs", s->out);
}

static enum gp_status choose_format(struct conversion *s, struct gp_diag *diag)
{
	size_t length = strlen(s->out), form = form_of(s->options->format);
	enum gp_status status = GP_OK;

	s->packing = gp_packing_of(s->out, &length);
	if (s->options->format == GP_FORMAT_BY_NAME)
		status = by_name(s, length, diag);
	else if (form < FORMS)
		s->format = forms[form].format;
	else
		status =
			gp_diag_usage(diag, "convert",
				      "that is a format of traces, not of runs",
				      "leave out --run, or give --to pickle, "
				      "perfetto, speedscope, folded or csv");
	if (status == GP_OK && !strcmp(s->out, "-") &&
	    s->format == GP_EXCHANGE_PICKLE &&
	    gp_outlet_is_terminal(gp_outlet_stdout()))
		status = gp_diag_usage(diag, "convert",
				       "a pickle is not for a terminal",
				       "name a file, or a pipe");
	return status;
}

/* ---- a run ---- */

static enum gp_status read_trace(struct conversion *s, struct gp_diag *diag)
{
	return gp_trace_file_read(s->path, &s->progress, &s->trace, diag);
}

static enum gp_status make_plan(struct conversion *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_plan_make(&s->plan, s->trace, s->options, diag);

	s->plan.on_oom = (enum gp_on_oom)s->options->on_oom;
	return status == GP_OK ? gp_plan_alter(&s->plan, s->options,
					       &s->progress, &s->what_ifs, diag)
			       : status;
}

static enum gp_status play(struct conversion *s, struct gp_exchange *exchange,
			   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	char what[64];

	for (uint32_t i = 0; i < s->trace->device_count && status == GP_OK;
	     i++) {
		struct gp_replay_config config = gp_plan_config(&s->plan, i);

		snprintf(what, sizeof(what), "replaying device %u of %zu",
			 i + 1, s->trace->device_count);
		gp_progress_step(&s->progress, what);
		gp_exchange_listen(exchange, &config);
		status = gp_replay(&config, &s->plan.results[i], diag);
		if (status == GP_OK && s->format == GP_EXCHANGE_PICKLE)
			status = gp_plan_check_state(
				&s->plan, i, s->trace->devices[i].event_count,
				&s->plan.results[i].end, diag);
		if (status == GP_OK)
			gp_exchange_add(exchange, &s->plan.results[i]);
	}
	return status;
}

static enum gp_status write_run(void *arg, FILE *out, struct gp_diag *diag)
{
	struct conversion *s = arg;
	struct gp_exchange_config config = {
		.format = s->format,
		.trace = s->plan.trace,
		.settings = &s->plan.settings,
		.conf = s->plan.conf,
		.name = gp_page_name(s->path),
		.out = out,
	};
	struct gp_exchange *exchange;
	enum gp_status status = gp_exchange_begin(&config, &exchange, diag);

	if (status != GP_OK)
		return status;
	status = play(s, exchange, diag);
	if (status == GP_OK)
		gp_exchange_end(exchange);
	else
		gp_exchange_abandon(exchange);
	return status;
}

static enum gp_status write_file(struct conversion *s, struct gp_diag *diag)
{
	enum gp_status status = gp_outlet_open(&s->output, s->out, diag);

	if (status == GP_OK)
		status = gp_pack_write(s->output.stream, s->packing, write_run,
				       s, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	gp_progress_end(&s->progress);
	return gp_outlet_close(&s->output, status, diag);
}

/* out: "-" is standard output. */
static enum gp_status convert_run(const struct gp_options *options,
				  const char *out, struct gp_diag *diag)
{
	struct conversion s = {
		.options = options,
		.path = options->operands[0],
		.out = out,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = choose_format(&s, diag);

	if (status == GP_OK)
		status = read_trace(&s, diag);
	if (status == GP_OK)
		status = make_plan(&s, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s.path);
	if (status == GP_OK)
		status = write_file(&s, diag);
	gp_progress_end(&s.progress);
	gp_plan_release(&s.plan);
	gp_what_ifs_release(&s.what_ifs);
	gp_trace_destroy(s.trace);
	return status;
}

/* ---- a trace ---- */

/* The output: OUT, or -o FILE. */
static enum gp_status find_out(const struct gp_options *options,
			       const char **out, struct gp_diag *diag)
{
	if (options->operand_count == 2 && options->output)
		return gp_diag_usage(diag, "convert",
				     "there are two names for the output",
				     "give OUT or -o");
	*out = options->operand_count == 2 ? options->operands[1]
					   : options->output;
	if (!*out)
		return gp_diag_usage(
			diag, "convert", "it needs a name for the output",
			"for example: gpupool convert IN OUT.jsonl.gz");
	return GP_OK;
}

/* Whether a what-if is found by replays, for which a capacity can be given. */
static bool is_searched(const struct gp_options *options)
{
	for (size_t i = 0; i < options->what_if_count; i++)
		if (gp_what_if_is_searched(&options->what_ifs[i]))
			return true;
	return false;
}

static bool has_needless_settings(const struct gp_options *options)
{
	struct gp_options others = *options;

	if (is_searched(options))
		others.capacity = 0;
	return gp_plan_has_settings(&others) || options->on_oom;
}

/* Refuses options and names that need --run. */
static enum gp_status check(const struct gp_options *options, const char *out,
			    struct gp_diag *diag)
{
	size_t length = strlen(out);

	gp_packing_of(out, &length);
	if (options->run)
		return GP_OK;
	if (has_needless_settings(options))
		return gp_diag_usage(
			diag, "convert",
			"settings have no effect on a trace that is not "
			"replayed",
			"add --run to write what the allocator would do");
	if (is_of_runs(options->format))
		return gp_diag_usage(
			diag, "convert",
			"that is a format of runs, not of traces",
			"add --run to write what the allocator does");
	if (options->format != GP_FORMAT_BY_NAME ||
	    form_named(out, length) == FORMS)
		return GP_OK;
	gp_diag_file(diag, "convert");
	gp_diag_hint(diag, "add --run to write what the allocator does");
	return gp_diag_set(
		diag, GP_USAGE,
		"the ending of %s is a format of runs, not of traces", out);
}

/* Writes the trace as altered by the what-ifs. The release and the memory are
 * filled in, because a replay could no longer infer them from recorded
 * outcomes. */
static enum gp_status write_altered(const struct gp_options *options,
				    const struct gp_trace *trace,
				    const struct gp_trace_form *form,
				    const char *out, struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options);
	struct gp_what_ifs what_ifs = { 0 };
	struct gp_plan plan;
	enum gp_status status = gp_plan_asked(&plan, trace, options, diag);

	if (status == GP_OK)
		status = gp_plan_alter(&plan, options, &progress, &what_ifs,
				       diag);
	gp_progress_end(&progress);
	if (status == GP_OK)
		status = gp_trace_file_write(what_ifs.trace, form, out, diag);
	else if (!*diag->file)
		gp_diag_file(diag, options->operands[0]);
	gp_plan_release(&plan);
	gp_what_ifs_release(&what_ifs);
	return status;
}

static enum gp_status convert(const struct gp_options *options, const char *out,
			      struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options);
	struct gp_trace *trace;
	struct gp_trace_form form;
	enum gp_status status = gp_trace_form_of(options, out, &form, diag);

	if (status == GP_OK)
		status = gp_trace_file_read(options->operands[0], &progress,
					    &trace, diag);
	gp_progress_end(&progress);
	if (status != GP_OK)
		return status;
	status = options->what_if_count
			 ? write_altered(options, trace, &form, out, diag)
			 : gp_trace_file_write(trace, &form, out, diag);
	gp_trace_destroy(trace);
	return status;
}

static enum gp_status convert_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	const char *out;
	enum gp_status status = find_out(options, &out, diag);

	if (status == GP_OK)
		status = check(options, out, diag);
	if (status != GP_OK)
		return status;
	return options->run ? convert_run(options, out, diag)
			    : convert(options, out, diag);
}

static const struct gp_option convert_options[] = {
	{ "run", 0, GP_OPTION_FLAG, GP_AT(run), NULL,
	  "Replay the trace and write the run, in a format of other tools." },
	{ "to", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  "The format to write, if the file's ending does not say; pickle and "
	  "those after it are formats of runs." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  "The same as --to." },
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "In place of OUT." },
	{ 0 },
};

const struct gp_command gp_convert_command = {
	.name = "convert",
	.operands = "IN OUT",
	.least = 1,
	.most = 2,
	.sentence =
		"Write a trace in another format, or a run for other tools.",
	.about = "The ending of OUT selects the format: .json, .jsonl, .gpt or "
		 ".bin, each also followed by .gz or .zst. - is standard "
		 "output, as JSON unless --to says otherwise.\n"
		 "With --run the trace is replayed, as recorded or with the "
		 "given settings, and what the allocator did is written: "
		 ".pickle is a snapshot that PyTorch's memory_viz shows, "
		 ".perfetto.json is for ui.perfetto.dev, .speedscope.json and "
		 ".folded are memory at the peak by stack, .csv is one row for "
		 "each event.",
	.options = "alloc-conf torch capacity engine torch-lib on-oom run to "
		   "format anonymous output max-input quiet",
	.own = convert_options,
	.takes_settings = true,
	.takes_what_ifs = true,
	.run = convert_command,
};
