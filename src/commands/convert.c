/* SPDX-License-Identifier: MIT */
/* gpupool convert: a trace in another format, or a run for other tools. */
#include "commands/command.h"
#include "commands/convert_run.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"

/* OUT, or what -o names in its place. */
static enum gp_status find_out(const struct gp_options *options,
			       const char **out, struct gp_diag *diag)
{
	if (options->operand_count == 2 && options->output)
		return gp_diag_usage(diag, "convert",
				     "there are two names to write to",
				     "give OUT or -o");
	*out = options->operand_count == 2 ? options->operands[1]
					   : options->output;
	if (!*out)
		return gp_diag_usage(
			diag, "convert", "it needs a name to write to",
			"for example: gpupool convert IN OUT.jsonl.gz");
	return GP_OK;
}

/* What only makes sense for a run. */
static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	if (options->run)
		return GP_OK;
	if (gp_plan_has_settings(options) || options->on_oom)
		return gp_diag_usage(
			diag, "convert",
			"settings make no difference to a trace that is "
			"not replayed",
			"add --run to write what the allocator would do");
	if (gp_convert_is_of_runs(options->format))
		return gp_diag_usage(
			diag, "convert",
			"that is a format of runs, not of traces",
			"add --run to write what the allocator does");
	return GP_OK;
}

/* The trace as the what-ifs alter it, with the release and the memory that a
 * replay of it would otherwise have to learn from what was recorded. */
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
	enum gp_status status =
		gp_trace_form_of(options, "convert", out, &form, diag);

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
		status = check(options, diag);
	if (status != GP_OK)
		return status;
	return options->run ? gp_convert_run(options, out, diag)
			    : convert(options, out, diag);
}

static const struct gp_option convert_options[] = {
	GP_COMMON("alloc-conf"),
	GP_COMMON("torch"),
	GP_COMMON("capacity"),
	GP_COMMON("engine"),
	GP_COMMON("torch-lib"),
	GP_COMMON("on-oom"),
	{ "run", 0, GP_OPTION_FLAG, GP_AT(run), NULL,
	  "Replay the trace and write the run, in a format of other tools." },
	{ "to", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  "The format to write, where the file's name does not say; from "
	  "pickle on they are a run's." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  "The same as --to." },
	GP_COMMON("anonymous"),
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "In place of OUT." },
	GP_COMMON("max-input"),
	GP_COMMON("quiet"),
	{ 0 },
};

const struct gp_command gp_convert_command = {
	.name = "convert",
	.operands = "IN OUT",
	.least = 1,
	.most = 2,
	.sentence =
		"Write a trace in another format, or a run for other tools.",
	.about =
		"OUT's name says the format: .json, .jsonl, .gpt or .bin, each "
		"also with .gz or .zst behind it. - is standard output, as "
		"JSON unless --to says otherwise.\n"
		"With --run the trace is replayed, as recorded or as the "
		"settings ask, and what the allocator did is written: .pickle "
		"is a snapshot that PyTorch's memory_viz shows, .perfetto.json "
		"is for ui.perfetto.dev, .speedscope.json and .folded are "
		"memory at the peak by stack, .csv is one row for each event.",
	.options = convert_options,
	.takes_settings = true,
	.takes_what_ifs = true,
	.run = convert_command,
};
