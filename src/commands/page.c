/* SPDX-License-Identifier: MIT */
/* gpupool page: the page that replays, with or without traces inside. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/own_folder.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "gpupool/write.h"
#include "report/live_page.h"
#include "report/page.h"

/* Bytes in memory, as a stream wrote them. */
struct part {
	struct gp_text_sink sink;
	char *name; /* owned; NULL: none */
};

struct session {
	const struct gp_options *options;
	struct part wasm;
	struct part *traces; /* as the operands */
	size_t trace_count;
	struct gp_text_sink still; /* the static page */
	char *conf;		   /* owned; NULL: no settings were given */
	uint8_t release;
	bool has_wasm;
};

/* ---- gpupool.wasm ---- */

/* Beside the program, or where it was installed. */
static FILE *open_wasm(void)
{
	static const char *const places[] = { "gpupool.wasm",
					      "../share/gpupool/gpupool.wasm" };
	char folder[PATH_MAX], path[PATH_MAX + 64];
	FILE *file = NULL;

	gp_own_program(folder, sizeof(folder));
	for (size_t i = 0; *folder && !file && i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, places[i]);
		file = fopen(path, "rb");
	}
	return file;
}

static enum gp_status copy(void *arg, FILE *out, struct gp_diag *diag)
{
	char bytes[1 << 16];
	size_t n;

	(void)diag;
	while ((n = fread(bytes, 1, sizeof(bytes), arg)) > 0)
		fwrite(bytes, 1, n, out);
	return GP_OK;
}

/* write's bytes, packed. */
static enum gp_status pack(struct part *part,
			   enum gp_status (*write)(void *arg, FILE *out,
						   struct gp_diag *diag),
			   void *arg, struct gp_diag *diag)
{
	FILE *out = gp_text_sink_open(&part->sink);
	enum gp_status status =
		gp_pack_write(out, GP_PACK_GZIP, write, arg, diag);

	gp_text_sink_close(&part->sink, out);
	return status;
}

static enum gp_status find_wasm(struct session *s, struct gp_diag *diag)
{
	FILE *file = open_wasm();
	enum gp_status status;

	if (!file)
		return GP_OK;
	status = pack(&s->wasm, copy, file, diag);
	s->has_wasm = status == GP_OK;
	fclose(file);
	return status;
}

/* ---- traces ---- */

static enum gp_status write_binary(void *arg, FILE *out, struct gp_diag *diag)
{
	return gp_trace_write(arg, GP_TRACE_BINARY, out, diag);
}

/* The last part of the path, told apart from those of other folders. */
static char *name_of(const struct session *s, const char *path)
{
	const char *last = gp_page_name(path);

	for (size_t i = 0; i < s->trace_count; i++)
		if (!strcmp(s->traces[i].name, last))
			return gp_mem_copy_text(path, strlen(path));
	return gp_mem_copy_text(last, strlen(last));
}

/* Those that the first trace is replayed under, where any were given. */
static enum gp_status take_settings(struct session *s,
				    const struct gp_trace *trace,
				    struct gp_diag *diag)
{
	struct gp_plan plan;
	enum gp_status status;

	if (s->conf || !gp_plan_has_settings(s->options))
		return GP_OK;
	status = gp_plan_asked(&plan, trace, s->options, diag);
	if (status == GP_OK) {
		const char *conf = plan.conf ? plan.conf : "";

		s->conf = gp_mem_copy_text(conf, strlen(conf));
		s->release = plan.settings.release;
	}
	gp_plan_release(&plan);
	return status;
}

static enum gp_status take_trace(struct session *s, const char *path,
				 struct gp_progress *progress,
				 struct gp_diag *diag)
{
	struct part *part = &s->traces[s->trace_count];
	struct gp_trace *trace;
	enum gp_status status =
		gp_trace_file_read_requests(path, progress, &trace, diag);

	if (status != GP_OK)
		return status;
	part->name = name_of(s, path);
	s->trace_count++;
	status = pack(part, write_binary, trace, diag);
	if (status == GP_OK)
		status = take_settings(s, trace, diag);
	gp_trace_destroy(trace);
	return status;
}

static enum gp_status take_traces(struct session *s, struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(s->options);
	enum gp_status status = GP_OK;

	s->traces =
		gp_mem_alloc(s->options->operand_count + 1, sizeof(*s->traces));
	for (size_t i = 0; status == GP_OK && i < s->options->operand_count;
	     i++)
		status =
			take_trace(s, s->options->operands[i], &progress, diag);
	gp_progress_end(&progress);
	return status;
}

/* ---- what can be read without scripts ---- */

/* What gpupool replay --format html writes. */
static enum gp_status make_still(struct session *s, struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	FILE *out = gp_text_sink_open(&s->still);
	FILE *before = gp_outlet_is_redirected() ? gp_outlet_stdout() : NULL;
	FILE *err = before ? gp_outlet_stderr() : NULL;
	enum gp_status status;

	options.format = GP_FORMAT_HTML;
	options.output = NULL;
	gp_outlet_redirect(out, gp_outlet_stderr());
	status = gp_replay_command.run(&options, diag);
	gp_outlet_redirect(before, err);
	gp_text_sink_close(&s->still, out);
	return status;
}

/* What stands in the <main> of a page of ours. */
static void cut_main(char **text)
{
	char *begin = strstr(*text, "<main>"), *end;

	if (!begin)
		return;
	begin += strlen("<main>");
	end = strstr(begin, "</main>");
	if (end)
		*end = '\0';
	*text = begin;
}

/* ---- the page ---- */

static struct gp_live_part part_of(const struct part *part)
{
	return (struct gp_live_part){ part->name, part->sink.text,
				      part->sink.size };
}

static void write_live(const struct session *s, FILE *out)
{
	struct gp_live_part *traces =
		gp_mem_alloc(s->trace_count + 1, sizeof(*traces));
	char *still = s->still.text, torch[16], capacity[32];
	struct gp_live_page page = {
		.title = s->trace_count == 1 ? s->traces[0].name : "gpupool",
		.wasm = part_of(&s->wasm),
		.traces = traces,
		.trace_count = s->trace_count,
	};

	for (size_t i = 0; i < s->trace_count; i++)
		traces[i] = part_of(&s->traces[i]);
	if (still)
		cut_main(&still);
	page.still = still;
	if (s->conf) {
		snprintf(torch, sizeof(torch), "2.%u", s->release);
		snprintf(capacity, sizeof(capacity), "%lluB",
			 (unsigned long long)s->options->capacity);
		page.conf = s->conf;
		page.torch = torch;
		page.capacity = s->options->capacity ? capacity : "";
	}
	gp_live_page_write(&page, out);
	free(traces);
}

static void write_page(void *arg, const struct gp_report_style *style,
		       FILE *out)
{
	const struct session *s = arg;

	(void)style;
	if (s->has_wasm)
		write_live(s, out);
	else
		fwrite(s->still.text, 1, s->still.size, out);
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = find_wasm(s, diag);

	if (status == GP_OK && !s->has_wasm && !s->options->operand_count) {
		gp_diag_hint(diag, "make wasm builds it");
		return gp_diag_set(diag, GP_SYSTEM,
				   "there is no gpupool.wasm, without which a "
				   "page replays nothing");
	}
	if (status == GP_OK)
		status = take_traces(s, diag);
	if (status == GP_OK && s->options->operand_count)
		status = make_still(s, diag);
	if (status != GP_OK)
		return status;
	if (!s->has_wasm)
		gp_tell("gpupool: there is no gpupool.wasm (make wasm): the "
			"page shows the run and replays nothing\n");
	return gp_outlet_report(s->options, write_page, s, diag);
}

static enum gp_status page_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = { .options = options };
	enum gp_status status = run(&s, diag);

	for (size_t i = 0; i < s.trace_count; i++) {
		free(s.traces[i].sink.text);
		free(s.traces[i].name);
	}
	free(s.traces);
	free(s.wasm.sink.text);
	free(s.still.text);
	free(s.conf);
	return status;
}

const struct gp_command gp_live_page_command = {
	.name = "page",
	.operands = "[TRACE...]",
	.most = 100000,
	.sentence = "Write a page for a browser that replays by itself.",
	.about =
		"The page is one file that needs no server and sends nothing "
		"anywhere: gpupool itself is in it, as WebAssembly, and the "
		"traces. Settings, release and capacity are controls there; "
		"those that are given here are what they begin with.\n"
		"Without TRACE the page waits for files to be dropped on it. "
		"Without scripts it shows what gpupool replay shows on a page.",
	.options = "alloc-conf torch capacity compare output max-input quiet",
	.takes_settings = true,
	.run = page_command,
};
