/* SPDX-License-Identifier: MIT */
/*
 * Reads a gpupool-report: the breakdown of the peak of reserved memory, for
 * each run and device.
 */
#include "report/change_report.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "gpupool/knob.h"
#include "report/page.h"
#include "report/schema.h"

#define HEAD 256 /* bytes at the beginning that contain the schema */

enum gp_status gp_report_is_one(const char *path, bool *is_one,
				struct gp_diag *diag)
{
	char head[HEAD + 1] = "";
	ssize_t n = 0;
	int error, fd = strcmp(path, "-")
				? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
				: STDIN_FILENO;

	/* A pipe cannot be read twice. */
	if (fd > STDIN_FILENO && lseek(fd, 0, SEEK_CUR) == 0)
		n = read(fd, head, HEAD);
	error = fd < 0 || n < 0 ? errno : 0;
	if (fd > STDIN_FILENO)
		close(fd);
	head[n > 0 ? n : 0] = 0;
	*is_one = strstr(head, "\"" GP_REPORT_FAMILY) != NULL;
	/* Other errors are reported by what reads the whole file. */
	if (gp_file_status(error) != GP_SYSTEM)
		return GP_OK;
	gp_diag_file(diag, path);
	return gp_diag_set(diag, GP_SYSTEM, "cannot read it: %s",
			   strerror(error));
}

enum gp_status gp_report_check(const char *schema, struct gp_diag *diag)
{
	size_t length = strcspn(schema, "\"");
	const char *age = "a newer";

	if (length == strlen(GP_REPORT_SCHEMA) &&
	    !strncmp(schema, GP_REPORT_SCHEMA, length))
		return GP_OK;
	if (strtoul(schema + strlen(GP_REPORT_FAMILY), NULL, 10) <
	    strtoul(&GP_REPORT_SCHEMA[strlen(GP_REPORT_FAMILY)], NULL, 10))
		age = "an older";
	gp_diag_hint(diag, "run the command that wrote it again, with this "
			   "gpupool");
	return gp_diag_set(diag, GP_INPUT,
			   "%s gpupool wrote this report (%.*s; this one "
			   "reads " GP_REPORT_SCHEMA ")",
			   age, (int)(length < 24 ? length : 24), schema);
}

/* ---- values ---- */

struct reader {
	const char *path;
	struct gp_diag *diag;
	const json_t *traces; /* NULL: there is one */
	size_t folder;	      /* bytes of the folder that all are in */
	size_t run, device;   /* being read */
};

static enum gp_status fail(const struct reader *r, const char *key,
			   const char *kind)
{
	gp_diag_file(r->diag, r->path);
	gp_diag_record(r->diag, "run %zu, device %zu", r->run, r->device);
	return gp_diag_set(r->diag, GP_INPUT, "%s is missing or not a %s", key,
			   kind);
}

static enum gp_status number(const struct reader *r, const json_t *object,
			     const char *key, uint64_t *value)
{
	const json_t *found = json_object_get(object, key);

	if (!json_is_integer(found) || json_integer_value(found) < 0)
		return fail(r, key, "whole number");
	*value = (uint64_t)json_integer_value(found);
	return GP_OK;
}

struct field {
	const char *key;
	uint64_t *value;
};

static enum gp_status numbers(const struct reader *r, const json_t *object,
			      const struct field *fields, size_t count)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++)
		status = number(r, object, fields[i].key, fields[i].value);
	return status;
}

#define NUMBERS(r, object, fields)                                             \
	numbers(r, object, fields, sizeof(fields) / sizeof(*(fields)))

/* ---- a device of a run ---- */

static enum gp_status read_moment(const struct reader *r,
				  const json_t *measures,
				  struct gp_moment *moment)
{
	/* Reports of early versions have only at_peak. */
	const json_t *fullest = json_object_get(measures, "at_fullest");
	const json_t *peak =
		fullest ? fullest : json_object_get(measures, "at_peak");
	const struct field fields[] = {
		{ "event", &moment->event },
		{ "reserved_bytes", &moment->reserved },
		{ "allocated_bytes", &moment->allocated },
		{ "active_bytes", &moment->active },
		{ "requested_bytes", &moment->requested },
	};

	return NUMBERS(r, peak, fields);
}

static enum gp_status read_counts(const struct reader *r, const json_t *device,
				  struct gp_breakdown *breakdown)
{
	const json_t *measures = json_object_get(device, "measures");
	/* Reports of early versions have only those since the last reset. */
	const json_t *counted =
		json_object_get(measures, "num_ooms")
			? measures
			: json_object_get(device, "memory_stats");
	const struct field fields[] = {
		{ "peak_allocated_bytes", &breakdown->peak_allocated },
		{ "dropped", &breakdown->dropped },
	};
	const struct field counters[] = {
		{ "num_ooms", &breakdown->ooms },
		{ "num_alloc_retries", &breakdown->retries },
	};
	enum gp_status status = NUMBERS(r, measures, fields);

	return status == GP_OK ? NUMBERS(r, counted, counters) : status;
}

static enum gp_status read_estimate(const struct reader *r,
				    const json_t *device,
				    struct gp_report_run *run)
{
	const json_t *object = json_object_get(device, "estimate");
	const char *how = json_string_value(json_object_get(object, "how"));
	struct gp_estimate *estimate = &run->estimate;
	const struct field fields[] = {
		{ "reserved", &estimate->reserved },
		{ "low", &estimate->low },
		{ "high", &estimate->high },
	};

	if (!json_is_object(object))
		return GP_OK;
	if (!how)
		return fail(r, "how", "text");
	run->how = gp_mem_copy_text(how, strlen(how));
	estimate->how = run->how;
	estimate->is_there = true;
	return NUMBERS(r, object, fields);
}

static enum gp_status read_device(const struct reader *r, const json_t *device,
				  struct gp_report_run *run)
{
	const json_t *capacity = json_object_get(device, "capacity");
	struct gp_moment moment = { 0 };
	uint64_t ordinal = 0;
	enum gp_status status = number(r, device, "device", &ordinal);

	if (status == GP_OK)
		status = read_moment(r, json_object_get(device, "measures"),
				     &moment);
	run->breakdown = gp_breakdown_of_moment(&moment);
	if (status == GP_OK)
		status = read_counts(r, device, &run->breakdown);
	run->capacity = GP_UNLIMITED;
	if (status == GP_OK && capacity && !json_is_null(capacity))
		status = number(r, device, "capacity", &run->capacity);
	run->device = (uint32_t)ordinal;
	return status == GP_OK ? read_estimate(r, device, run) : status;
}

/* ---- all runs ---- */

struct list {
	struct gp_report_run *runs;
	size_t count, room;
};

/* The options as on a command line: "--merge-streams --without-site
 * train.py:42"; NULL: none. The caller frees the text. */
static char *what_ifs_of(const json_t *run)
{
	const json_t *list = json_object_get(run, "what_ifs");
	struct gp_text_sink sink;
	FILE *text;

	if (!json_array_size(list))
		return NULL;
	text = gp_text_sink_open(&sink);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *name =
			json_string_value(json_object_get(one, "name"));
		const char *argument =
			json_string_value(json_object_get(one, "argument"));

		fprintf(text, "%s--%s%s%s", i ? " " : "", name ? name : "",
			argument ? " " : "", argument ? argument : "");
	}
	return gp_text_sink_close(&sink, text);
}

/* ---- which of a report's traces ---- */

static const char *trace_path(const json_t *traces, size_t index)
{
	const char *path = json_string_value(
		json_object_get(json_array_get(traces, index), "path"));

	return path ? path : "";
}

/* The length of the paths' common prefix: the folder that contains all
 * traces. */
static size_t folder_of(const json_t *traces)
{
	const char *first = trace_path(traces, 0);
	const char *slash = strrchr(first, '/');
	size_t length = slash ? (size_t)(slash - first) + 1 : 0;

	for (size_t i = 1; length && i < json_array_size(traces); i++)
		while (strncmp(first, trace_path(traces, i), length) != 0)
			for (length--; length && first[length - 1] != '/';)
				length--;
	return length;
}

static void read_traces(struct reader *r, const json_t *report)
{
	const json_t *traces = json_object_get(report, "traces");

	if (json_array_size(traces) < 2)
		return;
	r->traces = traces;
	r->folder = folder_of(traces);
}

static enum gp_status name_run(const struct reader *r, const json_t *run,
			       struct gp_report_run *one)
{
	const json_t *found = json_object_get(run, "trace");
	json_int_t index = json_integer_value(found);
	struct gp_text_sink sink;
	const char *path;
	FILE *out;

	if (!r->traces)
		return GP_OK;
	if (!json_is_integer(found) || index < 0 ||
	    (size_t)index >= json_array_size(r->traces))
		return fail(r, "trace", "number of one of its traces");
	path = trace_path(r->traces, (size_t)index) + r->folder;
	one->of_trace = gp_mem_copy_text(path, strlen(path));
	out = gp_text_sink_open(&sink);
	fprintf(out, "%s in %s", path, gp_page_name(r->path));
	one->name = gp_text_sink_close(&sink, out);
	return GP_OK;
}

static void release_run(struct gp_report_run *run)
{
	free(run->conf);
	free(run->engine);
	free(run->what_if);
	free(run->of_trace);
	free(run->name);
	free(run->how);
}

static enum gp_status read_run(struct reader *r, const json_t *run,
			       struct list *list)
{
	const char *conf =
		json_string_value(json_object_get(run, "alloc_conf"));
	const char *torch = json_string_value(json_object_get(run, "torch"));
	const char *engine = json_string_value(json_object_get(run, "engine"));
	const char *mode = json_string_value(json_object_get(run, "mode"));
	const json_t *devices = json_object_get(run, "devices");
	bool is_recorded = mode && !strcmp(mode, "verify");
	enum gp_status status = GP_OK;
	uint8_t release = 0;

	r->device = 0;
	if (!torch || gp_release_parse(torch, &release, r->diag) != GP_OK)
		return fail(r, "torch", "release");
	if (!engine)
		return fail(r, "engine", "text");
	for (; r->device < json_array_size(devices) && status == GP_OK;
	     r->device++) {
		struct gp_report_run one = { .release = release };

		status = read_device(r, json_array_get(devices, r->device),
				     &one);
		if (status == GP_OK)
			status = name_run(r, run, &one);
		if (status != GP_OK) {
			release_run(&one);
			break;
		}
		one.conf = gp_mem_copy_text(conf ? conf : "",
					    conf ? strlen(conf) : 0);
		one.what_if = what_ifs_of(run);
		one.mode = is_recorded ? GP_VERIFY : GP_WHAT_IF;
		one.engine = gp_mem_copy_text(engine, strlen(engine));
		GP_GROW(list->runs, list->count + 1, list->room);
		list->runs[list->count++] = one;
	}
	return status;
}

static enum gp_status read_runs(struct reader *r, const json_t *report,
				struct list *list)
{
	const json_t *runs = json_object_get(report, "runs");
	enum gp_status status = GP_OK;

	read_traces(r, report);
	for (; r->run < json_array_size(runs) && status == GP_OK; r->run++)
		status = read_run(r, json_array_get(runs, r->run), list);
	if (status != GP_OK || list->count)
		return status;
	gp_diag_file(r->diag, r->path);
	gp_diag_hint(
		r->diag,
		"gpupool replay TRACE --format json writes one that has runs");
	return gp_diag_set(r->diag, GP_INPUT, "the report has no runs");
}

/* For the ranks of a job, only the worst one is in the report in full. */
static enum gp_status check_ranks(const json_t *report, struct gp_diag *diag)
{
	const json_t *ranks = json_object_get(report, "rank_devices");

	if (json_array_size(ranks) < 2)
		return GP_OK;
	gp_diag_hint(diag, "compare the folders of traces: gpupool diff BEFORE "
			   "AFTER");
	return gp_diag_set(diag, GP_INPUT,
			   "it is a report of %zu devices of a job, of which "
			   "only the worst could be compared",
			   json_array_size(ranks));
}

enum gp_status gp_report_read(const char *path, struct gp_report_run **runs,
			      size_t *count, struct gp_diag *diag)
{
	struct reader r = { .path = path, .diag = diag };
	struct list list = { 0 };
	json_error_t error;
	json_t *report;
	const char *schema;
	FILE *file = fopen(path, "rb");
	enum gp_status status;

	gp_diag_file(diag, path);
	if (!file)
		return gp_diag_set(diag, gp_file_status(errno),
				   "cannot open it: %s", strerror(errno));
	report = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	if (ferror(file)) {
		json_decref(report);
		fclose(file);
		return gp_diag_set(diag, GP_SYSTEM, "cannot read it");
	}
	fclose(file);
	if (!report)
		return gp_diag_set(diag, GP_INPUT, "line %d: %s", error.line,
				   error.text);
	schema = json_string_value(json_object_get(report, "schema"));
	status = schema && !strncmp(schema, GP_REPORT_FAMILY,
				    strlen(GP_REPORT_FAMILY))
			 ? gp_report_check(schema, diag)
			 : GP_OK;
	if (status == GP_OK)
		status = check_ranks(report, diag);
	if (status == GP_OK)
		status = read_runs(&r, report, &list);
	json_decref(report);
	if (status != GP_OK) {
		gp_report_runs_release(list.runs, list.count);
		return status;
	}
	*runs = list.runs;
	*count = list.count;
	return GP_OK;
}

void gp_report_runs_release(struct gp_report_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		release_run(&runs[i]);
	free(runs);
}

/* ---- the runs of two reports, paired ---- */

static struct gp_change_side change_side(const char *path,
					 const struct gp_report_run *run)
{
	return (struct gp_change_side){
		.path = path,
		.name = run->name ? run->name : gp_page_name(path),
		.of_trace = run->of_trace,
		.conf = run->conf,
		.engine = run->engine,
		.what_if = run->what_if,
		.release = run->release,
		.mode = run->mode,
		.capacity = run->capacity,
		.estimate = run->estimate.is_there ? &run->estimate : NULL,
		.breakdown = run->breakdown,
	};
}

static bool is_same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool is_alike(const struct gp_report_run *a,
		     const struct gp_report_run *b)
{
	return a->device == b->device && a->release == b->release &&
	       a->capacity == b->capacity && !strcmp(a->conf, b->conf) &&
	       !strcmp(a->engine, b->engine) &&
	       is_same(a->of_trace, b->of_trace) &&
	       is_same(a->what_if, b->what_if);
}

size_t gp_report_runs_of(const struct gp_report_run *runs, size_t count,
			 uint32_t device)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += runs[i].device == device;
	return n;
}

/* The counterpart of a run: the only one, or else the one under the same
 * settings. */
static const struct gp_report_run *find_run(const struct gp_report_run *a,
					    size_t a_count,
					    const struct gp_report_run *b,
					    size_t b_count,
					    const struct gp_report_run *run)
{
	bool is_only = gp_report_runs_of(a, a_count, run->device) == 1 &&
		       gp_report_runs_of(b, b_count, run->device) == 1;

	for (size_t i = 0; i < b_count; i++)
		if (is_only ? b[i].device == run->device : is_alike(run, &b[i]))
			return &b[i];
	return NULL;
}

size_t gp_report_runs_alone(const struct gp_report_run *runs, size_t count,
			    const struct gp_report_run *others,
			    size_t other_count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += gp_report_runs_of(others, other_count, runs[i].device) &&
		     !find_run(runs, count, others, other_count, &runs[i]);
	return n;
}

size_t gp_report_pair(const char *a_path, const struct gp_report_run *a,
		      size_t a_count, const char *b_path,
		      const struct gp_report_run *b, size_t b_count,
		      struct gp_change *changes)
{
	size_t count = 0;

	for (size_t i = 0; i < a_count; i++) {
		const struct gp_report_run *other =
			find_run(a, a_count, b, b_count, &a[i]);

		if (other)
			changes[count++] = (struct gp_change){
				.device = a[i].device,
				.a = change_side(a_path, &a[i]),
				.b = change_side(b_path, other),
			};
	}
	return count;
}
