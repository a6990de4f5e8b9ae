/* SPDX-License-Identifier: MIT */
/* The parts of a page that replay; and gpupool page, which writes the page of
 * gpupool replay --format html, or one that waits for files. */
#include "commands/live_page.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/own_folder.h"
#include "commands/trace_file.h"
#include "gpupool/trace.h"
#include "report/page.h"

/* ---- gpupool.wasm.gz ---- */

/* Opens the file next to the programs in folder, or where it was installed.
 * NULL with errno ENOENT: it is in neither place. */
static FILE *open_below(const char *folder, char path[PATH_MAX + 64])
{
	static const char *const places[] = {
		"gpupool.wasm.gz", "../share/gpupool/gpupool.wasm.gz"
	};
	FILE *file = NULL;

	errno = ENOENT;
	for (size_t i = 0; *folder && errno == ENOENT && !file && i < 2; i++) {
		snprintf(path, PATH_MAX + 64, "%s/%s", folder, places[i]);
		file = fopen(path, "rb");
	}
	return file;
}

/* Looks relative to this program, then to the library that contains this code;
 * *file NULL: not found. */
static enum gp_status open_wasm(FILE **file, struct gp_diag *diag)
{
	static const char own;
	char folder[PATH_MAX], path[PATH_MAX + 64];
	Dl_info about;
	char *end;

	gp_own_program(folder, sizeof(folder));
	*file = open_below(folder, path);
	if (!*file && errno == ENOENT && dladdr(&own, &about) &&
	    about.dli_fname) {
		snprintf(folder, sizeof(folder), "%s", about.dli_fname);
		end = strrchr(folder, '/');
		if (end)
			*end = '\0';
		*file = open_below(end ? folder : "", path);
	}
	if (*file || errno == ENOENT)
		return GP_OK;
	return gp_diag_set(diag, GP_SYSTEM, "cannot read %s: %s", path,
			   strerror(errno));
}

/* Whether gpupool.wasm is there. */
static bool is_wasm_there(void)
{
	struct gp_diag diag;
	FILE *file;

	if (open_wasm(&file, &diag) == GP_OK && file)
		fclose(file);
	return file != NULL;
}

/* ---- parts ---- */

/* What `write` writes, compressed; the caller frees *owned. */
static enum gp_status pack(struct gp_live_part *part, char **owned,
			   enum gp_status (*write)(void *arg, FILE *out,
						   struct gp_diag *diag),
			   void *arg, struct gp_diag *diag)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	enum gp_status status =
		gp_pack_write(out, GP_PACK_GZIP, write, arg, diag);

	part->bytes = *owned = gp_text_sink_close(&sink, out);
	part->size = sink.size;
	return status;
}

/* Reads the file, which is already compressed. */
static enum gp_status read_wasm(struct gp_live_parts *parts, FILE *file,
				struct gp_diag *diag)
{
	struct gp_live_part *wasm = &parts->page.wasm;
	int error = gp_file_load(file, SIZE_MAX, &parts->wasm, &wasm->size);

	wasm->bytes = parts->wasm;
	return error ? gp_diag_set(diag, GP_SYSTEM,
				   "cannot read gpupool.wasm.gz: %s",
				   strerror(error))
		     : GP_OK;
}

static enum gp_status take_wasm(struct gp_live_parts *parts,
				struct gp_diag *diag)
{
	FILE *file;
	enum gp_status status = open_wasm(&file, diag);

	if (status != GP_OK)
		return status;
	if (!file) {
		parts->page.why =
			"There is no gpupool.wasm (make wasm builds it): "
			"without it, a page shows the run but cannot replay.";
		return GP_OK;
	}
	status = read_wasm(parts, file, diag);
	fclose(file);
	return status;
}

static enum gp_status write_binary(void *arg, FILE *out, struct gp_diag *diag)
{
	return gp_trace_write(arg, GP_TRACE_BINARY, out, diag);
}

/* The file's name without folders, unless another trace has the same. */
static const char *name_of(const struct gp_live_parts *parts, const char *path)
{
	const char *last = gp_page_name(path);

	for (size_t i = 0; i < parts->page.trace_count; i++)
		if (!strcmp(parts->traces[i].name, last))
			return path;
	return last;
}

/* Adds one trace for each class of ranks. */
static enum gp_status take_traces(struct gp_live_parts *parts,
				  const struct gp_ranks *ranks,
				  struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	parts->traces = gp_mem_alloc(ranks->count + 1, sizeof(*parts->traces));
	parts->page.traces = parts->traces;
	for (size_t i = 0; status == GP_OK && i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];
		struct gp_live_part *part = &parts->traces[i];
		char *bytes;

		part->name = name_of(parts, class->paths[0]);
		parts->page.trace_count++;
		status = pack(part, &bytes, write_binary, class->trace, diag);
	}
	return status;
}

/* ---- what was asked ---- */

static void add_flag(struct gp_live_parts *parts, const char *name,
		     const char *argument)
{
	parts->flags[parts->page.flag_count++] =
		(struct gp_live_flag){ name, argument };
}

#define SINGLE_FLAGS 5 /* at most, beside what-ifs */

/* Settings, release and capacity become controls; the rest becomes flags. */
static void take_question(struct gp_live_parts *parts,
			  const struct gp_options *options,
			  const struct gp_plan *asked)
{
	struct gp_live_page *page = &parts->page;

	snprintf(parts->release, sizeof(parts->release), "2.%u",
		 asked->settings.release);
	if (options->capacity == GP_UNLIMITED)
		snprintf(parts->capacity, sizeof(parts->capacity), "unlimited");
	else if (options->capacity)
		snprintf(parts->capacity, sizeof(parts->capacity), "%lluB",
			 (unsigned long long)options->capacity);
	page->conf = asked->conf ? asked->conf : "";
	page->torch = parts->release;
	page->capacity = parts->capacity;
	parts->flags = gp_mem_alloc(options->what_if_count + SINGLE_FLAGS,
				    sizeof(*parts->flags));
	page->flags = parts->flags;
	if (options->engine)
		add_flag(parts, "engine", options->engine);
	if (options->pool_threshold)
		add_flag(parts, "pool-threshold", options->pool_threshold);
	if (options->pool_reuse)
		add_flag(parts, "pool-reuse", options->pool_reuse);
	if (options->pool_keep)
		add_flag(parts, "pool-keep", options->pool_keep);
	if (options->on_oom == GP_OOM_STOP)
		add_flag(parts, "on-oom", "stop");
	for (size_t i = 0; i < options->what_if_count; i++)
		add_flag(parts, options->what_ifs[i].row->name,
			 options->what_ifs[i].argument);
}

/* Whether the run needs something that a page does not have: devices, programs
 * or libraries. */
static bool is_beyond(const struct gp_plan *asked)
{
	return asked && (asked->cuda || asked->opened || asked->torch_lib ||
			 asked->asks_itself);
}

enum gp_status gp_live_parts_make(struct gp_live_parts *parts,
				  const struct gp_options *options,
				  const struct gp_ranks *ranks,
				  const struct gp_plan *asked,
				  struct gp_diag *diag)
{
	enum gp_status status;

	*parts = (struct gp_live_parts){ 0 };
	if (is_beyond(asked)) {
		parts->page.why = "The page shows the run but cannot replay: "
				  "it has neither a device nor the engine.";
		return GP_OK;
	}
	status = take_wasm(parts, diag);
	if (status == GP_OK && parts->page.wasm.bytes && ranks)
		status = take_traces(parts, ranks, diag);
	if (status == GP_OK && asked)
		take_question(parts, options, asked);
	return status;
}

void gp_live_parts_release(struct gp_live_parts *parts)
{
	for (size_t i = 0; i < parts->page.trace_count; i++)
		free((void *)parts->traces[i].bytes);
	free(parts->traces);
	free(parts->flags);
	free(parts->wasm);
	*parts = (struct gp_live_parts){ 0 };
}

/* ---- the command ---- */

static void write_empty(void *arg, const struct gp_report_style *style,
			FILE *out)
{
	(void)style;
	gp_live_page_write(arg, out);
}

static enum gp_status wait_for_files(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct gp_live_parts parts;
	enum gp_status status =
		gp_live_parts_make(&parts, options, NULL, NULL, diag);

	if (status == GP_OK && !parts.page.wasm.bytes) {
		gp_diag_hint(diag, "make wasm builds it");
		status = gp_diag_set(diag, GP_SYSTEM,
				     "there is no gpupool.wasm, without which "
				     "a page cannot replay");
	}
	if (status == GP_OK)
		status = gp_outlet_report(options, write_empty, &parts.page,
					  diag);
	gp_live_parts_release(&parts);
	return status;
}

static enum gp_status page_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct gp_options page = *options;
	enum gp_status status;
	bool is_live;

	page.format = GP_FORMAT_HTML;
	if (!page.operand_count)
		return wait_for_files(&page, diag);
	/* Checked before the page is written, because the check may fail. */
	is_live = is_wasm_there();
	status = gp_replay_command.run(&page, diag);
	if (status == GP_OK && !is_live)
		gp_notice("gpupool: there is no gpupool.wasm (make wasm): the "
			  "page shows the run but cannot replay\n");
	return status;
}

const struct gp_command gp_live_page_command = {
	.name = "page",
	.operands = "[TRACE...]",
	.most = 100000,
	.sentence = "Write a page for a browser that replays by itself.",
	.about = "The page is one file that needs no server and sends nothing "
		 "anywhere: it contains gpupool itself, as WebAssembly, and "
		 "the traces. Settings, release and capacity are controls on "
		 "it; those given here are their initial values.\n"
		 "It is the page that gpupool replay writes. Without TRACE it "
		 "waits for files to be dropped on it. Without scripts, or if "
		 "make wasm has not been run, it shows the run, the verdict "
		 "and pictures, but cannot replay.",
	.options = "alloc-conf torch capacity compare output max-input quiet",
	.takes_settings = true,
	.run = page_command,
};
