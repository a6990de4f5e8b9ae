/* SPDX-License-Identifier: MIT */
/*
 * A sweep as JSON, one line per run, written and read back.
 *
 * Runs keep their text, so that writing them again gives the same bytes.
 */
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/larger.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "report/emit.h"
#include "report/keys.h"
#include "report/object.h"
#include "report/ranks.h"
#include "report/schema.h"
#include "report/sweep_rank.h"
#include "report/sweep_report.h"
#include "report/verdict.h"

/* ---- the head ---- */

static void write_row(struct gp_emit *json, const struct gp_sweep_row *row)
{
	if (*row->failure) {
		gp_emit_text(json, "failure", row->failure);
		gp_emit_null(json, "summary");
		return;
	}
	gp_emit_object(json, "summary", "summary", row, GP_EMIT_FLAT);
}

#define RELEASE_TEXT 8
static const char *release_text(uint8_t release, char text[RELEASE_TEXT])
{
	snprintf(text, RELEASE_TEXT, "2.%u", release);
	return text;
}

static void range_of_memory(const struct gp_report *report,
			    struct gp_sweep_report_trace *trace)
{
	uint64_t least = GP_UNLIMITED, most = 0;

	for (size_t d = 0; d < report->trace->device_count; d++) {
		uint64_t capacity = report->runs->capacity[d];

		least = gp_smaller(least, capacity);
		if (capacity != GP_UNLIMITED)
			most = gp_larger(most, capacity);
	}
	if (least < most) {
		trace->least_capacity = least;
		trace->most_capacity = most;
	}
}

static void write_recorded(struct gp_emit *json, const struct gp_report *report,
			   const struct gp_prices *prices)
{
	const struct gp_run *run = report->runs;
	char torch[RELEASE_TEXT];
	struct gp_sweep_report_trace trace = {
		.conf = run->conf,
		.torch = release_text(run->settings->release, torch),
		.capacity = report->trace->device_count ? run->capacity[0]
							: GP_UNLIMITED,
	};

	range_of_memory(report, &trace);
	for (size_t d = 0; d < report->trace->device_count; d++) {
		trace.checked += run->results[d].fidelity.checked;
		trace.matched += run->results[d].fidelity.matched;
		gp_row_add(&trace.row, &run->results[d], NULL, prices);
	}
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", report->path);
	gp_emit_told(json, report->trace);
	gp_emit_settings(json, "settings", run->settings);
	gp_emit_keys(json, "sweep_trace", &trace);
	write_row(json, &trace.row);
	gp_emit_close(json, '}');
}

static void write_prices(struct gp_emit *json, const struct gp_prices *prices)
{
	gp_emit_open(json, "prices", '{', GP_EMIT_LINES);
	gp_emit_text(json, "name", prices->name);
	gp_emit_open(json, "list", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < prices->count; i++) {
		const struct gp_price *row = &prices->rows[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "call", gp_price_call_name(row->call));
		gp_emit_keys(json, "price", row);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

/* ---- classes of values ---- */

static void write_mib(struct gp_emit *json, uint64_t mib)
{
	if (mib == GP_UNLIMITED)
		gp_emit_null(json, NULL);
	else
		gp_emit_uint(json, NULL, mib);
}

static void write_range(struct gp_emit *json, const struct gp_box *box,
			enum gp_space_axis axis)
{
	gp_emit_open(json, gp_space_names[axis], '[', GP_EMIT_FLAT);
	if (axis == GP_SPACE_SPLIT) {
		write_mib(json, box->split_least_mb);
		write_mib(json, box->split_most_mb);
	} else if (axis == GP_SPACE_LARGE) {
		write_mib(json, box->large_least_mb);
		write_mib(json, box->large_most_mb);
	} else {
		if (box->gc_least <= box->gc_most)
			gp_emit_real(json, NULL,
				     box->gc_least > DBL_MIN ? box->gc_least
							     : 0);
		else
			gp_emit_null(json, NULL);
		if (box->gc_off)
			gp_emit_null(json, NULL);
		else
			gp_emit_real(json, NULL, box->gc_most);
	}
	gp_emit_close(json, ']');
}

void keys_write_alike(struct gp_emit *json, const struct gp_key *key,
		      const void *value)
{
	const struct gp_sweep_report_entry *entry = value;

	if (!entry->searched || entry->reason)
		return;
	gp_emit_open(json, key->name, '{', GP_EMIT_FLAT);
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (entry->searched >> i & 1)
			write_range(json, &entry->box, (enum gp_space_axis)i);
	gp_emit_close(json, '}');
}

static void write_classes(struct gp_emit *json,
			  const struct gp_classes *classes)
{
	if (!classes->searched)
		return;
	gp_emit_open(json, "classes", '{', GP_EMIT_LINES);
	gp_emit_open(json, "settings", '[', GP_EMIT_FLAT);
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (classes->searched >> i & 1)
			gp_emit_text(json, NULL, gp_space_names[i]);
	gp_emit_close(json, ']');
	gp_emit_keys(json, "classes", classes);
	gp_emit_close(json, '}');
}

/* ---- combinations ---- */

static void write_combination(struct gp_emit *json,
			      const struct gp_combination *c)
{
	char torch[RELEASE_TEXT];
	const struct gp_sweep_report_entry entry = {
		.conf = c->conf,
		.torch = release_text(c->settings.release, torch),
		.engine = c->engine->name,
		.reason = c->reason,
		.is_undecided = c->is_undecided,
		.is_excluded = c->is_excluded,
		.capacity = c->capacity,
		.searched = c->searched,
		.box = c->box,
	};

	gp_emit_object(json, NULL, "combination", &entry, GP_EMIT_FLAT);
}

/* The verdicts are a case for each device of each trace, in order. */
static void write_verdicts(struct gp_emit *json,
			   const struct gp_sweep_report_setup *setup)
{
	size_t trace = 0;

	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < setup->study->case_count; i++) {
		const struct gp_case *c = &setup->cases[i];

		while (setup->recorded[trace].trace != c->trace)
			trace++;
		gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
		if (trace < setup->trace_count) {
			gp_emit_uint(json, "trace", trace);
		} else {
			gp_emit_null(json, "trace");
			gp_emit_text(json, "path", setup->recorded[trace].path);
		}
		gp_emit_uint(json, "device",
			     c->trace->devices[c->device].device);
		gp_emit_verdict(json, &setup->study->verdicts[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

/* The head ends after the bracket that opens the runs. */
void gp_sweep_report_write_head(const struct gp_sweep_report_setup *setup,
				FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_json_trace(&json, &setup->recorded[0]);
	gp_emit_ranks(&json, setup->ranks);
	gp_emit_open(&json, "traces", '[', GP_EMIT_LINES);
	for (size_t t = 0; t < setup->trace_count; t++)
		write_recorded(&json, &setup->recorded[t], setup->prices);
	gp_emit_close(&json, ']');
	write_verdicts(&json, setup);
	write_prices(&json, setup->prices);
	if (setup->is_cut)
		gp_emit_bool(&json, "cut", true);
	write_classes(&json, &setup->classes);
	gp_emit_open(&json, "combinations", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < setup->grid->count; i++)
		write_combination(&json, &setup->grid->items[i]);
	gp_emit_close(&json, ']');
	gp_emit_open(&json, "runs", '[', GP_EMIT_LINES);
}

/* ---- runs ---- */

char *gp_sweep_report_failed_body(const struct gp_run *run)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink),
				.depth = 3,
				.flat_depth = 3 };

	putc('{', json.out);
	gp_emit_text(&json, "alloc_conf", run->conf);
	gp_emit_release(&json, "torch", run->settings->release);
	gp_emit_text(&json, "engine", run->engine);
	return gp_text_sink_close(&sink, json.out);
}

char *gp_sweep_report_body(const struct gp_report *report)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink), .depth = 2 };
	char *text, *start;
	size_t size;

	gp_json_run(&json, report, &report->runs[0], GP_EMIT_FLAT);
	text = gp_text_sink_close(&sink, json.out);
	start = strchr(text, '{');
	/* Without its closing brace, which is written after the keys that
	 * follow. */
	size = sink.size - (size_t)(start - text) - 1;
	memmove(text, start, size);
	text[size] = 0;
	return text;
}

static void write_run(const struct gp_sweep_report *sweep, size_t index,
		      size_t place, FILE *out)
{
	const struct gp_sweep_report_run *run = &sweep->runs[index];
	/* Continues on the line of the body. */
	struct gp_emit json = {
		.out = out, .depth = 3, .flat_depth = 3, .has_items = true
	};

	fputs(run->body, out);
	gp_emit_uint(&json, "combination", index / sweep->trace_count);
	gp_emit_uint(&json, "trace", index % sweep->trace_count);
	write_row(&json, &run->row);
	if (place)
		gp_emit_uint(&json, "rank", place);
	else
		gp_emit_null(&json, "rank");
	putc('}', out);
}

static void write_order(struct gp_emit *json,
			const struct gp_sweep_report *sweep,
			const struct ranking *ranking)
{
	gp_emit_open(json, "ranking", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < ranking->count; i++) {
		const struct gp_contender *c = &ranking->contenders[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "rank", i + 1);
		gp_emit_uint(json, "combination", c->index);
		gp_emit_text(json, "alloc_conf", c->conf);
		gp_emit_bool(json, "pareto",
			     gp_rank_is_front(ranking->contenders,
					      ranking->count, i));
		gp_emit_bool(json, "tie_with_previous",
			     i && gp_rank_is_tie(c - 1, c));
		if (*ranking->recorded.failure)
			gp_emit_null(json,
				     "peak_reserved_minus_recorded_bytes");
		else
			gp_emit_int(json, "peak_reserved_minus_recorded_bytes",
				    (int64_t)(gp_row_peak(c->row) -
					      ranking->recorded.reserved));
		gp_emit_uint(json, "worst_trace", c->row->worst);
		if (c->row->ooms)
			gp_emit_uint(json, "first_oom_trace",
				     c->row->first_oom_run);
		else
			gp_emit_null(json, "first_oom_trace");
		write_row(json, c->row);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	(void)sweep;
}

void gp_sweep_report_json(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out)
{
	struct ranking ranking = ranking_make(sweep, style->by);
	struct gp_emit json = { .out = out, .depth = 1, .has_items = true };
	size_t count = sweep->entry_count * sweep->trace_count, written = 0;
	size_t *places = gp_mem_alloc(sweep->entry_count, sizeof(*places));

	for (size_t i = 0; i < ranking.count; i++)
		places[ranking.contenders[i].index] = i + 1;
	fputs(sweep->head, out);
	for (size_t i = 0; i < count; i++) {
		if (!sweep->runs[i].is_done || !sweep->runs[i].body)
			continue;
		fputs(written++ ? ",\n  " : "\n  ", out);
		write_run(sweep, i,
			  style->is_part ? 0 : places[i / sweep->trace_count],
			  out);
	}
	fputs("\n ]", out);
	if (style->is_part)
		gp_emit_null(&json, "ranking");
	else
		write_order(&json, sweep, &ranking);
	fputs("\n}\n", out);
	free(places);
	ranking_release(&ranking);
}

/* ---- read back: the head by jansson, then one line a run ---- */

#define RUNS_MARK "\n \"runs\": ["
/* The first key after a run's body; in a line, its last occurrence counts. */
#define TAIL_MARK ", \"combination\": "
/* More runs than any sweep has: such a file is refused, as it would take too
 * much memory. */
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

/* The index of a name in a list; count: it is not there. */
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

/* Reads both ends of a range; null: not set. */
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

/* NULL: the verdict belongs to no trace. */
static const char *path_of_verdict(struct gp_sweep_report *sweep,
				   const json_t *device)
{
	uint64_t trace;

	if (json_is_null(json_object_get(device, "trace")))
		return keep_text(sweep, json_object_get(device, "path"));
	return read_count(device, "trace", &trace) && trace < sweep->trace_count
		       ? sweep->traces[trace].path
		       : NULL;
}

/* Counts the files without requests. */
static void read_idle(struct gp_sweep_report *sweep, const json_t *ranks)
{
	const json_t *class, *classes = json_object_get(ranks, "classes");
	size_t i;

	json_array_foreach(classes, i, class)
	{
		const json_t *paths = json_object_get(class, "paths");

		if (!json_is_false(json_object_get(class, "requests")))
			continue;
		if (!sweep->idle)
			sweep->idle_path =
				keep_text(sweep, json_array_get(paths, 0));
		sweep->idle += json_array_size(paths);
	}
}

static enum gp_status read_verdicts(struct gp_sweep_report *sweep,
				    const json_t *root, struct gp_diag *diag)
{
	const json_t *devices = json_object_get(root, "devices");
	size_t count = json_array_size(devices);

	sweep->verdicts = gp_mem_alloc(count + 1, sizeof(*sweep->verdicts));
	sweep->verdict_paths =
		gp_mem_alloc(count + 1, sizeof(*sweep->verdict_paths));
	sweep->verdict_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *device = json_array_get(devices, i);
		struct gp_verdict *v = &sweep->verdicts[i];

		sweep->verdict_paths[i] = path_of_verdict(sweep, device);
		if (!sweep->verdict_paths[i])
			return gp_diag_set(diag, GP_INPUT,
					   "a verdict belongs to no trace");
		if (!json_is_null(json_object_get(device, "trace")))
			sweep->swept_count = i + 1;
		if (gp_object_read(json_object_get(device, "verdict"),
				   "verdict", v, &sweep->memory))
			return gp_diag_set(diag, GP_INPUT,
					   "a verdict is not complete");
		/* A trace from which nothing follows has no cause. */
		v->is_failure = v->kind == GP_VERDICT_UNDECIDED &&
				v->cause != GP_BY_NONE;
		v->is_unplayable = v->kind == GP_VERDICT_TOO_SMALL && !v->need;
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
	read_idle(sweep, ranks);
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

/* NULL: error says why. */
static json_t *parse_head(const char *head, json_error_t *error)
{
	size_t length = strlen(head);
	char *whole = gp_mem_alloc(length + 3, 1);
	json_t *root;

	snprintf(whole, length + 3, "%s]}", head);
	root = json_loads(whole, 0, error);
	free(whole);
	return root;
}

enum gp_status gp_sweep_report_begin(struct gp_sweep_report *sweep, char *head,
				     struct gp_diag *diag)
{
	enum gp_status status;
	json_error_t error;
	json_t *root;

	*sweep = (struct gp_sweep_report){
		.head = head,
	};
	root = parse_head(head, &error);
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
	free(sweep->verdict_paths);
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

/* Parses the keys after a run's body as an object of their own; NULL: the line
 * is not a run, or the mark is inside another object. */
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

/* line: "{...}", without the comma or bracket after it. */
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
		status = gp_diag_set(diag, GP_INPUT,
				     "it is not a run of a sweep");
	else
		status = read_row(object, &row, diag);
	json_decref(object);
	if (status != GP_OK)
		return status;
	struct gp_sweep_report_run *run =
		&sweep->runs[combination * sweep->trace_count + trace];

	if (run->is_done)
		return gp_diag_set(diag, GP_INPUT, "the run appears twice");
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

static enum gp_status load(const char *path, char **text, struct gp_diag *diag)
{
	FILE *file = fopen(path, "r");
	size_t size = 0;
	int error = file ? gp_file_load(file, SIZE_MAX, text, &size) : errno;

	if (file)
		fclose(file);
	if (error)
		return gp_diag_set(diag, gp_file_status(error), "%s",
				   strerror(error));
	return strlen(*text) == size
		       ? GP_OK
		       : gp_diag_set(diag, GP_INPUT, "it is not text");
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
				     "it is not a report of a sweep");
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

/* Drops texts about a sweep, and conclusions from it, which other versions of
 * gpupool may phrase differently: no run depends on them. */
static void drop_words(json_t *root)
{
	json_t *prices = json_object_get(root, "prices");
	json_t *ranks = json_object_get(root, "ranks"), *one;
	size_t i;

	json_object_del(json_object_get(root, "trace"), "not_told");
	json_array_foreach(json_object_get(root, "traces"), i, one)
		json_object_del(one, "not_told");
	json_array_foreach(json_object_get(root, "devices"), i, one)
		json_object_del(one, "verdict");
	json_object_del(prices, "name");
	json_array_foreach(json_object_get(prices, "list"), i, one)
		json_object_del(one, "source");
	json_object_del(ranks, "missing_files");
	json_array_foreach(json_object_get(ranks, "unread"), i, one)
		json_object_del(one, "reason");
	json_array_foreach(json_object_get(root, "combinations"), i,
			   one) if (json_object_get(one, "reason"))
		json_object_set_new(one, "reason", json_true());
}

/* Whether the runs of both sweeps can be combined. */
static bool is_same_sweep(const char *head, const char *other)
{
	json_error_t error;
	json_t *a, *b;
	bool is_same;

	if (!strcmp(head, other))
		return true;
	a = parse_head(head, &error);
	b = parse_head(other, &error);
	drop_words(a);
	drop_words(b);
	is_same = a && json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return is_same;
}

/* 0: no result; 1: a failure; 2: numbers. */
static int worth(const struct gp_sweep_report_run *run)
{
	return run->is_done ? 1 + !*run->row.failure : 0;
}

enum gp_status gp_sweep_report_join(struct gp_sweep_report *sweep,
				    struct gp_sweep_report *other,
				    enum gp_sweep_join purpose,
				    struct gp_diag *diag)
{
	if (!is_same_sweep(sweep->head, other->head)) {
		gp_diag_hint(diag, "traces, settings and prices must be the "
				   "same, also the paths as given");
		return gp_diag_set(diag, GP_INPUT, "it is of another sweep");
	}
	for (size_t i = 0; i < sweep->entry_count * sweep->trace_count; i++) {
		struct gp_sweep_report_run run = sweep->runs[i];
		int least = purpose == GP_SWEEP_RESUME ? 2 : worth(&run) + 1;

		if (worth(&run) == 2 || worth(&other->runs[i]) < least)
			continue;
		sweep->runs[i] = other->runs[i];
		other->runs[i] = run;
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
