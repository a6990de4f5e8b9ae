/* gpupool convert: a trace in another format. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/pack.h"
#include "cli/progress.h"
#include "gpupool/input.h"
#include "gpupool/write.h"

struct form {
	enum gp_trace_format format;
	enum gp_packing packing;
};

static const struct {
	const char *suffix;
	enum gp_trace_format format;
} formats[] = {
	{ ".json", GP_TRACE_JSON },
	{ ".jsonl", GP_TRACE_JSONL },
	{ ".gpt", GP_TRACE_BINARY },
	{ ".bin", GP_TRACE_BINARY },
};

static const struct {
	const char *suffix;
	enum gp_packing packing;
} packings[] = {
	{ ".gz", GP_PACK_GZIP },
	{ ".zst", GP_PACK_ZSTD },
};

static bool ends_with(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);

	return length >= n && !strncmp(text + length - n, suffix, n);
}

/* Cuts a packing's suffix off the length. */
static enum gp_packing packing_of(const char *path, size_t *length)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++) {
		if (!ends_with(path, *length, packings[i].suffix))
			continue;
		*length -= strlen(packings[i].suffix);
		return packings[i].packing;
	}
	return GP_PACK_NONE;
}

static enum gp_status form_of(const struct gp_options *options,
			      struct form *form, struct gp_diag *diag)
{
	const char *path = options->operands[1];
	size_t length = strlen(path);

	form->packing = packing_of(path, &length);
	form->format = GP_TRACE_JSON;
	if (options->to != GP_TO_BY_NAME) {
		form->format = (enum gp_trace_format)options->to;
		return GP_OK;
	}
	if (!strcmp(path, "-"))
		return GP_OK;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!ends_with(path, length, formats[i].suffix))
			continue;
		form->format = formats[i].format;
		return GP_OK;
	}
	gp_diag_file(diag, "convert");
	gp_diag_hint(diag, "give --format json, jsonl or binary");
	return gp_diag_set(diag, GP_USAGE, "the name %s does not say a format",
			   path);
}

/* Nobody wants that on a screen. */
static enum gp_status check_terminal(const struct gp_options *options,
				     const struct form *form,
				     struct gp_diag *diag)
{
	if (strcmp(options->operands[1], "-") != 0 ||
	    form->format != GP_TRACE_BINARY || !isatty(STDOUT_FILENO))
		return GP_OK;
	gp_diag_file(diag, "convert");
	gp_diag_hint(diag, "name a file, or a pipe");
	return gp_diag_set(diag, GP_USAGE,
			   "the binary form is not for a terminal");
}

static enum gp_status write_packed(const struct gp_trace *trace,
				   const struct form *form, FILE *under,
				   struct gp_diag *diag)
{
	FILE *out = gp_pack_open(under, form->packing);
	enum gp_status status;

	if (!out)
		return gp_diag_set(diag, GP_SYSTEM, "it cannot be packed");
	status = gp_trace_write(trace, form->format, out, diag);
	if (fclose(out) && status == GP_OK)
		status = gp_diag_set(diag, GP_SYSTEM,
				     "it cannot be written packed");
	return status;
}

static enum gp_status write_trace(const struct gp_trace *trace,
				  const struct form *form, const char *path,
				  struct gp_diag *diag)
{
	struct gp_output output;
	enum gp_status status = gp_outlet_open(&output, path, diag);

	if (status != GP_OK)
		return status;
	if (form->packing == GP_PACK_NONE)
		status = gp_trace_write(trace, form->format, output.stream,
					diag);
	else
		status = write_packed(trace, form, output.stream, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_convert_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options->quiet);
	struct gp_input_config config = {
		.path = options->operands[0],
		.progress = gp_progress_read,
		.progress_arg = &progress,
	};
	struct gp_trace *trace;
	struct form form;
	enum gp_status status = form_of(options, &form, diag);

	if (status == GP_OK)
		status = check_terminal(options, &form, diag);
	if (status == GP_OK)
		status = gp_input_read(&config, &trace, diag);
	gp_progress_end(&progress);
	if (status != GP_OK)
		return status;
	status = write_trace(trace, &form, options->operands[1], diag);
	gp_trace_destroy(trace);
	return status;
}
