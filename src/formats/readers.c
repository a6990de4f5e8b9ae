/* SPDX-License-Identifier: MIT */
/*
 * Reading traces: the format is recognised by the first bytes and, for JSON, by
 * the keys of the outer object.
 */
#include "gpupool/input.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/trace.h"
#include "formats/readers.h"

/* ---- the binary form ---- */

/* Reads compressed or piped bytes into memory first. */
static enum gp_status read_unmapped(struct gp_source *source,
				    struct gp_trace **trace,
				    struct gp_diag *diag)
{
	enum gp_status status;
	char *bytes = NULL;
	size_t size = 0, room = 0;

	do {
		size_t n = (size_t)(source->end - source->at);

		GP_GROW(bytes, size + n, room);
		memcpy(bytes + size, source->at, n);
		source->at = source->end;
		size += n;
	} while (gp_source_more(source));
	status = source->status;
	if (status == GP_OK)
		status = gp_trace_from_bytes(bytes, size, trace, diag);
	free(bytes);
	return status;
}

static enum gp_status read_binary(struct gp_source *source,
				  struct gp_trace **trace, struct gp_diag *diag)
{
	uint64_t size;
	int fd = gp_source_fd(source, &size);

	if (fd < 0)
		return read_unmapped(source, trace, diag);
	return gp_trace_map(fd, size, trace, diag);
}

static bool begins_with(const unsigned char *at, size_t n, const char *text)
{
	return n >= strlen(text) && !memcmp(at, text, strlen(text));
}

static bool is_binary(const unsigned char *at, size_t n)
{
	return begins_with(at, n, GP_BINARY_MAGIC);
}

/* ---- formats in JSON ---- */

static void skip_blanks(const unsigned char **at, size_t *n)
{
	while (*n && isspace(**at)) {
		++*at;
		--*n;
	}
}

/* Whether it is what export_memory_timeline of
 * torch/profiler/_memory_profiler.py writes: a picture, or lists of numbers. */
static bool is_timeline(const unsigned char *at, size_t n)
{
	return begins_with(at, n,
			   "<html>\n<head><meta charset=\"utf-8\" />"
			   "<title>GPU Memory Timeline") ||
	       (n > 2 && begins_with(at, n, "[[") && isdigit(at[2]));
}

/* A list must begin with another list, an object or a text, because logs begin
 * with "[rank0]: " or "[2026-"; an object must begin with a text, because
 * Python prints dicts as "{'loss': ". */
static bool is_json(const unsigned char *at, size_t n)
{
	static const unsigned char bom[] = { 0xef, 0xbb, 0xbf };
	bool is_list;

	if (n >= sizeof(bom) && !memcmp(at, bom, sizeof(bom))) {
		at += sizeof(bom);
		n -= sizeof(bom);
	}
	skip_blanks(&at, &n);
	if (!n || (*at != '[' && *at != '{') || is_timeline(at, n))
		return false;
	is_list = *at++ == '[';
	n--;
	skip_blanks(&at, &n);
	if (!n)
		return !is_list;
	return *at && strchr(is_list ? "[{\"]" : "\"}", *at);
}

static void skip_byte_order_mark(struct gp_source *source)
{
	if (source->end - source->at >= 3 &&
	    !memcmp(source->at, "\xef\xbb\xbf", 3))
		source->at += 3;
}

static enum gp_status fail_json(struct gp_json_scan *scan)
{
	if (scan->status)
		return scan->status;
	gp_diag_hint(scan->diag,
		     "a gpupool-trace has \"format\" in its header, "
		     "a PyTorch snapshot has \"device_traces\", a profile "
		     "\"traceEvents\"");
	return gp_diag_foreign(scan->diag, "it is JSON, but not a trace");
}

static const struct json_format {
	gp_json_knows *knows;
	gp_json_read *read;
} json_formats[] = {
	{ gp_json_trace_knows, gp_json_trace_read },
	{ gp_json_snapshot_knows, gp_json_snapshot_read },
	{ gp_kineto_knows, gp_kineto_read },
};

#define JSON_FORMATS (sizeof(json_formats) / sizeof(*json_formats))

static enum gp_status read_object(struct gp_json_scan *scan,
				  struct gp_trace **trace)
{
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;

	if (!gp_json_enter(scan, '{', &walk))
		return scan->status;
	while (gp_json_next_key(scan, &walk, key)) {
		for (size_t i = 0; i < JSON_FORMATS; i++)
			if (json_formats[i].knows(key))
				return json_formats[i].read(scan, &walk, key,
							    trace);
		gp_json_skip(scan);
	}
	return fail_json(scan);
}

static enum gp_status read_json(struct gp_source *source,
				struct gp_trace **trace, struct gp_diag *diag)
{
	struct gp_json_scan scan;
	enum gp_status status;

	gp_json_scan_init(&scan, source, diag);
	skip_byte_order_mark(source);
	status = gp_json_peek(&scan) == '['
			 ? gp_json_snapshot_read_list(&scan, trace)
			 : read_object(&scan, trace);
	gp_json_scan_release(&scan);
	return status;
}

/* ---- all formats ---- */

/* The first format that the bytes match reads the file. All JSON formats share
 * one row. */
static const struct format {
	struct gp_input_format named;
	gp_reader_is *is_it;
	gp_reader_read *read;
} formats[] = {
	{ { "PyTorch snapshot",
	    "torch.cuda.memory._dump_snapshot(), pickle of protocol 2 to 5, or "
	    "the same as JSON. Every recorded address is compared.",
	    NULL },
	  gp_pickle_is,
	  gp_pickle_read },
	{ { "gpupool-trace", "JSON, JSON Lines or binary: gpupool-trace(5).",
	    NULL },
	  is_binary,
	  read_binary },
	{ { "torch.profiler",
	    "export_chrome_trace() of a profile with profile_memory=True.",
	    "torch-profiler" },
	  is_json,
	  read_json },
	{ { "RMM log", "rmm::mr::logging_resource_adaptor's CSV.", "rmm-log" },
	  gp_rmm_is,
	  gp_rmm_read },
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

const struct gp_input_format *gp_input_format(size_t index)
{
	return index < FORMATS ? &formats[index].named : NULL;
}

static bool is_zero(const unsigned char *at, size_t n)
{
	return !*at && !memcmp(at, at + 1, n - 1);
}

/* Files that are often given in place of a trace, by how they begin. */
static const struct {
	const char *begin, *what, *hint;
} strangers[] = {
	{ "version https://git-lfs",
	  "it is a pointer to a file in Git LFS, not a trace",
	  "git lfs pull fetches the file" },
	{ "(dp", "it is a pickle of protocol 0",
	  "pickle.dump(snapshot, file, protocol=4) writes one that is read" },
	{ "(lp", "it is a pickle of protocol 0",
	  "pickle.dump(snapshot, file, protocol=4) writes one that is read" },
	{ "\x1f\x8b\x08", "it was compressed again and again",
	  "unpack it first" },
	{ "<", "it is HTML or XML, not a trace",
	  "a web page about a file is not the file: download the raw file" },
	{ "PK\003\004", "it is a zip file, which cannot be read from a pipe",
	  "give the file's name, or unzip it" },
};

static enum gp_status fail_unknown(const unsigned char *at, size_t n,
				   struct gp_diag *diag)
{
	const struct gp_oom_mark *mark;

	if (is_timeline(at, n)) {
		gp_diag_hint(diag, "export_chrome_trace() of the same profile, "
				   "with profile_memory=True, has requests; a "
				   "memory snapshot has more");
		return gp_diag_foreign(diag, "it is a memory timeline: sums, "
					     "without requests");
	}
	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		if (begins_with(at, n, strangers[i].begin)) {
			gp_diag_hint(diag, "%s", strangers[i].hint);
			return gp_diag_foreign(diag, strangers[i].what);
		}
	if (n && is_zero(at, n)) {
		gp_diag_hint(diag, "was it copied before all of it was "
				   "written?");
		return gp_diag_foreign(diag, "it begins with zeros only");
	}
	if (gp_oom_mark_in((const char *)at, n, &mark)) {
		gp_diag_hint(diag,
			     "gpupool FILE, without more, explains the message "
			     "of its error; a trace says more");
		return gp_diag_foreign(diag, "it is the log of a program that "
					     "ran out of memory, not a trace");
	}
	gp_diag_hint(diag, "PyTorch's memory snapshots, profiles and more can "
			   "be read: gpupool help formats");
	return gp_diag_foreign(diag, n ? "its format is not recognised"
				       : "it is empty");
}

/* Keeps the diag: a failure of take is not a failure to read a trace. */
static void show_unknown(struct gp_source *source,
			 const struct gp_unknown_input *unknown,
			 struct gp_diag *diag)
{
	const struct gp_diag why = *diag;

	unknown->take(unknown->arg, source);
	*diag = why;
}

/* For a snapshot whose host_traces are missing or empty. */
static enum gp_status fail_host(struct gp_trace **trace, struct gp_diag *diag)
{
	gp_trace_destroy(*trace);
	*trace = NULL;
	gp_diag_hint(diag, "PyTorch 2.15 records them in a snapshot: "
			   "torch.cuda.memory._record_memory_history(record_"
			   "pinned_host_memory=True)");
	return gp_diag_foreign(diag,
			       "it has no requests for pinned host memory");
}

enum gp_status gp_input_read_or(const struct gp_input_config *config,
				const struct gp_unknown_input *unknown,
				struct gp_trace **trace, struct gp_diag *diag)
{
	struct gp_source source;
	enum gp_status status = gp_source_open(&source, config, diag);
	gp_reader_read *read = NULL;
	size_t n, i;

	if (status != GP_OK)
		return status;
	n = (size_t)(source.end - source.at);
	for (i = 0; i < FORMATS && !read; i++)
		if (formats[i].is_it(source.at, n))
			read = formats[i].read;
	status = read ? read(&source, trace, diag)
		      : fail_unknown(source.at, n, diag);
	/* Even if a reader was chosen: the first line of a log may be a JSON
	 * object. */
	if (status != GP_OK && diag->is_foreign && unknown->take) {
		gp_source_rewind(&source);
		show_unknown(&source, unknown, diag);
	}
	gp_source_close(&source);
	if (status == GP_OK && config->is_of_host && !(*trace)->device_count)
		status = fail_host(trace, diag);
	return status;
}

enum gp_status gp_input_read(const struct gp_input_config *config,
			     struct gp_trace **trace, struct gp_diag *diag)
{
	const struct gp_unknown_input nobody = { NULL, NULL };

	return gp_input_read_or(config, &nobody, trace, diag);
}
