/* SPDX-License-Identifier: MIT */
/*
 * Reports of sweeps, read back: the head by jansson, then one line a run.
 *
 * Runs keep their text, so that what is written again is the same bytes.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/sweep_report.h"
#include "report/object.h"
#include "report/schema.h"

#define RUNS_MARK "\n \"runs\": ["
/* What stands behind a run's body; the last one counts. */
#define TAIL_MARK ", \"combination\": "
/* More runs than a sweep can have make no sense, and cost memory. */
#define MOST_RUNS (UINT64_C(1) << 26)

static const char *keep_text(struct gp_sweep_report *sweep, const json_t *text)
{
	const char *value = json_string_value(text);

	return value ? gp_arena_text(&sweep->memory, value, strlen(value))
		     : NULL;
}

static bool read_count(const json_t *object, const char *key, uint64_t *count)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*count = (uint64_t)json_integer_value(value);
	return true;
}

static enum gp_status read_row(const json_t *object, struct gp_sweep_row *row,
			       struct gp_diag *diag)
{
	const json_t *summary = json_object_get(object, "summary");
	const char *failure =
		json_string_value(json_object_get(object, "failure"));
	const char *missing;

	*row = (struct gp_sweep_row){ 0 };
	if (failure) {
		snprintf(row->failure, sizeof(row->failure), "%s", failure);
		return GP_OK;
	}
	missing = gp_object_read(summary, "summary", row, NULL);
	if (missing)
		return gp_diag_set(diag, GP_INPUT, "\"summary\" has no \"%s\"",
				   missing);
	if (row->allocated > row->reserved)
		return gp_diag_set(diag, GP_INPUT,
				   "\"summary\" has more allocated than "
				   "reserved");
	return GP_OK;
}

/* ---- the head ---- */

/* The place of a name in a list; count: it is none of them. */
static unsigned name_at(const json_t *text, const char *const *names,
			unsigned count)
{
	const char *value = json_string_value(text);
	unsigned i = 0;

	while (i < count && (!value || strcmp(value, names[i]) != 0))
		i++;
	return i;
}

static bool read_capacity(const json_t *value, uint64_t none, uint64_t *bytes)
{
	*bytes = none;
	if (json_is_null(value))
		return true;
	if (json_is_string(value) &&
	    !strcmp(json_string_value(value), "unlimited"))
		*bytes = GP_UNLIMITED;
	else if (json_is_integer(value) && json_integer_value(value) > 0)
		*bytes = (uint64_t)json_integer_value(value);
	else
		return false;
	return true;
}

/* Both ends of a range; null is not set. */
static bool read_range(const json_t *range, struct gp_sweep_report_entry *entry,
		       enum gp_space_axis axis)
{
	const json_t *least = json_array_get(range, 0);
	const json_t *most = json_array_get(range, 1);
	struct gp_box *box = &entry->box;

	if (axis == GP_SPACE_GC) {
		box->gc_off = json_is_null(most);
		box->gc_least =
			json_is_null(least) ? 1 : json_number_value(least);
		box->gc_most = json_is_null(least) ? 0
			       : box->gc_off	   ? nextafter(1, 0)
						   : json_number_value(most);
		return json_array_size(range) == 2;
	}
	if (axis == GP_SPACE_SPLIT)
		return read_capacity(least, GP_UNLIMITED,
				     &box->split_least_mb) &&
		       read_capacity(most, GP_UNLIMITED, &box->split_most_mb);
	return read_capacity(least, 0, &box->large_least_mb) &&
	       read_capacity(most, 0, &box->large_most_mb);
}

static bool read_alike(const json_t *object,
		       struct gp_sweep_report_entry *entry)
{
	const json_t *alike = json_object_get(object, "alike");

	for (int i = 0; i < GP_SPACE_AXES; i++) {
		const json_t *range = json_object_get(alike, gp_space_names[i]);

		if (!range)
			continue;
		entry->searched |= 1U << i;
		if (!read_range(range, entry, (enum gp_space_axis)i))
			return false;
	}
	return true;
}

static void read_classes(const json_t *root, struct gp_classes *classes)
{
	const json_t *object = json_object_get(root, "classes");
	const json_t *names = json_object_get(object, "settings");

	for (size_t i = 0; i < json_array_size(names); i++) {
		unsigned at = name_at(json_array_get(names, i), gp_space_names,
				      GP_SPACE_AXES);

		if (at < GP_SPACE_AXES)
			classes->searched |= 1U << at;
	}
	if (object)
		gp_object_read(object, "classes", classes, NULL);
}

static enum gp_status read_entry(struct gp_sweep_report *sweep,
				 const json_t *object,
				 struct gp_sweep_report_entry *entry,
				 struct gp_diag *diag)
{
	if (!gp_object_read(object, "combination", entry, &sweep->memory) &&
	    read_alike(object, entry))
		return GP_OK;
	return gp_diag_set(diag, GP_INPUT, "a combination is not complete");
}

static enum gp_status read_trace(struct gp_sweep_report *sweep,
				 const json_t *object,
				 struct gp_sweep_report_trace *trace,
				 struct gp_diag *diag)
{
	trace->path = keep_text(sweep, json_object_get(object, "path"));
	trace->values = keep_text(sweep, json_object_get(object, "values"));
	trace->not_told = keep_text(sweep, json_object_get(object, "not_told"));
	if (trace->path &&
	    !gp_object_read(object, "sweep_trace", trace, &sweep->memory))
		return read_row(object, &trace->row, diag);
	return gp_diag_set(diag, GP_INPUT, "a trace is not complete");
}

static enum gp_status read_verdicts(struct gp_sweep_report *sweep,
				    const json_t *root, struct gp_diag *diag)
{
	const json_t *devices = json_object_get(root, "devices");
	size_t count = json_array_size(devices);

	sweep->verdicts = gp_mem_alloc(count + 1, sizeof(*sweep->verdicts));
	sweep->verdict_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *device = json_array_get(devices, i);
		struct gp_verdict *v = &sweep->verdicts[i];

		if (gp_object_read(json_object_get(device, "verdict"),
				   "verdict", v, &sweep->memory))
			return gp_diag_set(diag, GP_INPUT,
					   "a verdict is not complete");
		/* Where the trace tells nothing there is no cause. */
		v->is_failure = v->kind == GP_VERDICT_UNDECIDED &&
				v->cause != GP_BY_NONE;
	}
	return GP_OK;
}

static enum gp_status read_lists(struct gp_sweep_report *sweep,
				 const json_t *root, struct gp_diag *diag)
{
	const json_t *traces = json_object_get(root, "traces");
	const json_t *entries = json_object_get(root, "combinations");
	const json_t *ranks;
	enum gp_status status = GP_OK;

	sweep->trace_count = json_array_size(traces);
	sweep->entry_count = json_array_size(entries);
	if (!sweep->trace_count || !sweep->entry_count ||
	    sweep->entry_count > MOST_RUNS / sweep->trace_count)
		return gp_diag_set(diag, GP_INPUT, "it lists no sweep");
	sweep->traces =
		gp_mem_alloc(sweep->trace_count, sizeof(*sweep->traces));
	sweep->entries =
		gp_mem_alloc(sweep->entry_count, sizeof(*sweep->entries));
	sweep->runs = gp_mem_alloc(sweep->entry_count * sweep->trace_count,
				   sizeof(*sweep->runs));
	sweep->prices = keep_text(
		sweep,
		json_object_get(json_object_get(root, "prices"), "name"));
	ranks = json_object_get(root, "ranks");
	sweep->files =
		(size_t)json_integer_value(json_object_get(ranks, "files"));
	sweep->unread = json_array_size(json_object_get(ranks, "unread"));
	sweep->is_cut = json_is_true(json_object_get(root, "cut"));
	read_classes(root, &sweep->classes);
	for (size_t i = 0; i < sweep->trace_count && status == GP_OK; i++)
		status = read_trace(sweep, json_array_get(traces, i),
				    &sweep->traces[i], diag);
	for (size_t i = 0; i < sweep->entry_count && status == GP_OK; i++)
		status = read_entry(sweep, json_array_get(entries, i),
				    &sweep->entries[i], diag);
	if (status == GP_OK)
		status = read_verdicts(sweep, root, diag);
	if (status == GP_OK && !sweep->prices)
		status = gp_diag_set(diag, GP_INPUT, "it has no prices");
	return status;
}

enum gp_status gp_sweep_report_begin(struct gp_sweep_report *sweep, char *head,
				     struct gp_diag *diag)
{
	size_t length = strlen(head);
	char *whole = gp_mem_alloc(length + 3, 1);
	enum gp_status status;
	json_error_t error;
	json_t *root;

	*sweep = (struct gp_sweep_report){
		.head = head,
	};
	snprintf(whole, length + 3, "%s]}", head);
	root = json_loads(whole, 0, &error);
	free(whole);
	if (!root) {
		gp_diag_record(diag, "line %d", error.line);
		status = gp_diag_set(diag, GP_INPUT, "%s", error.text);
	} else {
		status = read_lists(sweep, root, diag);
	}
	json_decref(root);
	if (status != GP_OK)
		gp_sweep_report_release(sweep);
	return status;
}

void gp_sweep_report_release(struct gp_sweep_report *sweep)
{
	for (size_t i = 0; i < sweep->entry_count * sweep->trace_count; i++)
		if (sweep->runs)
			free(sweep->runs[i].body);
	free(sweep->runs);
	free(sweep->entries);
	free(sweep->traces);
	free(sweep->verdicts);
	free(sweep->head);
	gp_arena_release(&sweep->memory);
	*sweep = (struct gp_sweep_report){ 0 };
}

/* ---- runs ---- */

static const char *last_of(const char *line, const char *mark)
{
	const char *found = NULL;

	for (const char *at = line; (at = strstr(at, mark)); at++)
		found = at;
	return found;
}

/* What stands behind the body of "{...}" as an object of its own; NULL where
 * the line is none, or is cut there inside another object. */
static json_t *read_tail(const char *line, const char *tail)
{
	json_t *whole = json_loads(line, 0, NULL), *object = NULL;

	if (whole && tail) {
		char *text = gp_mem_copy_text(tail + 1, strlen(tail + 1));

		*text = '{';
		object = json_loads(text, 0, NULL);
		free(text);
	}
	json_decref(whole);
	return object;
}

/* line: "{...}", without what parts it from the next. */
static enum gp_status read_run(struct gp_sweep_report *sweep, const char *line,
			       struct gp_diag *diag)
{
	const char *tail = last_of(line, TAIL_MARK);
	json_t *object = read_tail(line, tail);
	uint64_t combination = 0, trace = 0;
	struct gp_sweep_row row;
	enum gp_status status;

	if (!read_count(object, "combination", &combination) ||
	    !read_count(object, "trace", &trace) ||
	    combination >= sweep->entry_count || trace >= sweep->trace_count)
		status = gp_diag_set(diag, GP_INPUT, "it is no run of a sweep");
	else
		status = read_row(object, &row, diag);
	json_decref(object);
	if (status != GP_OK)
		return status;
	struct gp_sweep_report_run *run =
		&sweep->runs[combination * sweep->trace_count + trace];

	if (run->is_done)
		return gp_diag_set(diag, GP_INPUT, "the run is there twice");
	run->body = gp_mem_copy_text(line, (size_t)(tail - line));
	run->row = row;
	run->is_done = true;
	return GP_OK;
}

static enum gp_status read_runs(struct gp_sweep_report *sweep, char *at,
				struct gp_diag *diag)
{
	size_t number = 0;

	for (char *end; strncmp(at, "\n  {", 4) == 0; at = end) {
		size_t length;

		at += 3;
		end = strchr(at, '\n');
		if (!end)
			return gp_diag_set(diag, GP_INPUT, "it is cut off");
		length = (size_t)(end - at);
		if (at[length - 1] == ',')
			at[length - 1] = 0;
		*end = 0;
		number++;
		if (read_run(sweep, at, diag) != GP_OK) {
			gp_diag_record(diag, "run %zu", number);
			return GP_INPUT;
		}
		*end = '\n';
	}
	if (strncmp(at, "\n ]", 3) != 0)
		return gp_diag_set(diag, GP_INPUT, "its runs do not end");
	return GP_OK;
}

static enum gp_status failed(struct gp_diag *diag)
{
	return gp_diag_set(diag, gp_file_status(errno), "%s", strerror(errno));
}

static enum gp_status load(const char *path, char **text, struct gp_diag *diag)
{
	FILE *file = fopen(path, "r");
	size_t room = 0, length = 0, got;

	*text = NULL;
	if (!file)
		return failed(diag);
	do {
		*text = gp_mem_grow(*text, &room, length + (1 << 16), 1);
		got = fread(*text + length, 1, room - length - 1, file);
		length += got;
	} while (got);
	(*text)[length] = 0;
	if (ferror(file)) {
		fclose(file);
		return failed(diag);
	}
	got = strlen(*text) != length;
	fclose(file);
	return got ? gp_diag_set(diag, GP_INPUT, "it is no text") : GP_OK;
}

enum gp_status gp_sweep_report_read(struct gp_sweep_report *sweep,
				    const char *path, struct gp_diag *diag)
{
	char *text = NULL, *mark = NULL;
	enum gp_status status = load(path, &text, diag);
	bool is_begun = false;

	*sweep = (struct gp_sweep_report){ 0 };
	if (status == GP_OK && (mark = strstr(text, GP_REPORT_FAMILY)))
		status = gp_report_check(mark, diag);
	if (status == GP_OK && !(mark = strstr(text, RUNS_MARK))) {
		gp_diag_hint(diag, "only what gpupool sweep --format json or "
				   "--shard wrote, as it wrote it");
		status = gp_diag_set(diag, GP_INPUT,
				     "it is no report of a sweep");
	}
	if (status == GP_OK) {
		mark += strlen(RUNS_MARK);
		status = gp_sweep_report_begin(
			sweep, gp_mem_copy_text(text, (size_t)(mark - text)),
			diag);
		is_begun = status == GP_OK;
	}
	if (status == GP_OK)
		status = read_runs(sweep, mark, diag);
	free(text);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	if (status != GP_OK && is_begun)
		gp_sweep_report_release(sweep);
	return status;
}

enum gp_status gp_sweep_report_join(struct gp_sweep_report *sweep,
				    struct gp_sweep_report *other,
				    struct gp_diag *diag)
{
	if (strcmp(sweep->head, other->head) != 0) {
		gp_diag_hint(diag, "traces, settings and prices must be the "
				   "same, also the paths as given");
		return gp_diag_set(diag, GP_INPUT, "it is of another sweep");
	}
	for (size_t i = 0; i < sweep->entry_count * sweep->trace_count; i++) {
		struct gp_sweep_report_run *run = &sweep->runs[i];

		/* What failed is tried again. */
		if (run->is_done || !other->runs[i].is_done ||
		    *other->runs[i].row.failure)
			continue;
		*run = other->runs[i];
		other->runs[i] = (struct gp_sweep_report_run){ 0 };
	}
	return GP_OK;
}

size_t gp_sweep_report_asked(const struct gp_sweep_report *sweep)
{
	size_t count = 0;

	for (size_t i = 0; i < sweep->entry_count; i++)
		count += !sweep->entries[i].reason;
	return count * sweep->trace_count;
}

size_t gp_sweep_report_done(const struct gp_sweep_report *sweep)
{
	size_t count = 0;

	for (size_t i = 0; i < sweep->entry_count * sweep->trace_count; i++)
		count += sweep->runs[i].is_done;
	return count;
}
