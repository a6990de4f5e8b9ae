/* SPDX-License-Identifier: MIT */
/* gpupool convert --run. */
#include "commands/convert_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/outlet.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "report/exchange/exchange.h"

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

struct session {
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

/* ---- where to ---- */

/* FORMS: it is of traces. */
static size_t form_of(enum gp_format asked)
{
	size_t i = 0;

	while (i < FORMS && forms[i].asked != asked)
		i++;
	return i;
}

bool gp_convert_is_of_runs(enum gp_format format)
{
	return form_of(format) < FORMS;
}

static enum gp_status by_name(struct session *s, size_t length,
			      struct gp_diag *diag)
{
	for (size_t i = 0; i < FORMS; i++) {
		if (!gp_path_ends(s->out, length, forms[i].suffix))
			continue;
		s->format = forms[i].format;
		return GP_OK;
	}
	gp_diag_file(diag, "convert");
	gp_diag_hint(diag, "give --to pickle, perfetto, speedscope, folded or "
			   "csv");
	return gp_diag_set(diag, GP_USAGE,
			   "the name %s does not say a format of runs", s->out);
}

static enum gp_status choose_format(struct session *s, struct gp_diag *diag)
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
	    s->format == GP_EXCHANGE_PICKLE && isatty(STDOUT_FILENO))
		status = gp_diag_usage(diag, "convert",
				       "a pickle is not for a terminal",
				       "name a file, or a pipe");
	return status;
}

/* ---- the run ---- */

static enum gp_status read_trace(struct session *s, struct gp_diag *diag)
{
	return gp_trace_file_read(s->path, &s->progress, &s->trace, diag);
}

static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_plan_make(&s->plan, s->trace, s->options, diag);

	s->plan.on_oom = (enum gp_on_oom)s->options->on_oom;
	return status == GP_OK ? gp_plan_alter(&s->plan, s->options,
					       &s->progress, &s->what_ifs, diag)
			       : status;
}

static enum gp_status play(struct session *s, struct gp_exchange *exchange,
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
		if (status == GP_OK)
			gp_exchange_add(exchange, &s->plan.results[i]);
	}
	return status;
}

static enum gp_status write_run(struct session *s, FILE *out,
				struct gp_diag *diag)
{
	const char *name = strrchr(s->path, '/');
	struct gp_exchange_config config = {
		.format = s->format,
		.trace = s->plan.trace,
		.settings = &s->plan.settings,
		.conf = s->plan.conf,
		.name = name ? name + 1 : s->path,
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

static enum gp_status write_packed(struct session *s, struct gp_diag *diag)
{
	FILE *out = gp_pack_open(s->output.stream, s->packing);
	enum gp_status status;

	if (!out)
		return gp_diag_set(diag, GP_SYSTEM, "it cannot be packed");
	status = write_run(s, out, diag);
	if (fclose(out) && status == GP_OK)
		status = gp_diag_set(diag, GP_SYSTEM,
				     "it cannot be written packed");
	return status;
}

static enum gp_status write_file(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = gp_outlet_open(&s->output, s->out, diag);

	if (status == GP_OK)
		status = s->packing == GP_PACK_NONE
				 ? write_run(s, s->output.stream, diag)
				 : write_packed(s, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	gp_progress_end(&s->progress);
	return gp_outlet_close(&s->output, status, diag);
}

enum gp_status gp_convert_run(const struct gp_options *options, const char *out,
			      struct gp_diag *diag)
{
	struct session s = {
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
