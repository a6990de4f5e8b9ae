/* SPDX-License-Identifier: MIT */
/* gpupool.baseline.json: the numbers of each run when --update wrote it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/emit.h"
#include "report/gate/gate_report.h"
#include "report/gate/load.h"

#define SCHEMA	     "gpupool-baseline/1"
#define MOST_TEXT    8000
#define MARK_DIGITS  12 /* a mark: six each for program and allocator */
#define MOST_DEVICES 1024

struct store {
	struct gp_baseline baseline;
	struct gp_arena arena;
};

struct reading {
	const struct gp_numbers *numbers;
	struct store *store;
	struct gp_diag *diag;
};

static enum gp_status bad(const struct reading *r, const char *what)
{
	return gp_diag_set(r->diag, GP_INPUT, "%s", what);
}

/* NULL if the key is absent or null. */
static enum gp_status read_text(const struct reading *r, const json_t *object,
				const char *key, const char **text)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return GP_OK;
	return load_text(value, key, MOST_TEXT, &r->store->arena, text,
			 r->diag);
}

/* ---- fingerprints: rows of hexadecimal digits ---- */

static bool parse_hex(const char *text, size_t length, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < length; i++) {
		const char *digits = "0123456789abcdef";
		const char *at = text[i] ? strchr(digits, text[i]) : NULL;

		if (!at)
			return false;
		*value = *value << 4 | (uint64_t)(at - digits);
	}
	return true;
}

static bool read_row(const char *row, struct gp_fingerprint *fingerprint)
{
	uint64_t mark;

	for (; *row; row += MARK_DIGITS) {
		if (fingerprint->count > GP_FINGERPRINT_MARKS ||
		    strlen(row) < MARK_DIGITS ||
		    !parse_hex(row, MARK_DIGITS, &mark))
			return false;
		fingerprint->marks[fingerprint->count++] =
			(struct gp_fingerprint_mark){
				(uint32_t)(mark >> 24),
				(uint32_t)(mark & 0xffffff),
			};
	}
	return true;
}

static enum gp_status read_print(const struct reading *r, const json_t *object,
				 struct gp_fingerprint *fingerprint)
{
	const json_t *rows = json_object_get(object, "marks");
	const char *digest =
		json_string_value(json_object_get(object, "program"));
	json_int_t spacing =
		json_integer_value(json_object_get(object, "spacing"));
	json_int_t requests =
		json_integer_value(json_object_get(object, "requests"));

	if (spacing <= 0 || requests < 0 || !digest || strlen(digest) != 16 ||
	    !parse_hex(digest, 16, &fingerprint->digest))
		return bad(r, "its fingerprint is damaged");
	fingerprint->spacing = (uint64_t)spacing;
	fingerprint->requests = (uint64_t)requests;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const char *row = json_string_value(json_array_get(rows, i));

		if (!row || !read_row(row, fingerprint))
			return bad(r, "its fingerprint is damaged");
	}
	return GP_OK;
}

/* ---- numbers ---- */

/* Below every number of a run, and far enough from the limits of int64_t for
 * differences. */
#define LEAST INT32_MIN

static bool read_value(const struct gp_number *number, const json_t *value,
		       struct gp_reading *reading)
{
	double real = json_number_value(value);

	if (json_is_null(value)) /* there was none */
		return true;
	reading->is_there = true;
	if (number->unit != GP_NUMBER_RATIO) {
		reading->value = (int64_t)json_integer_value(value);
		return json_is_integer(value) && reading->value >= LEAST;
	}
	if (!json_is_number(value) || !(real > -1e6 && real < 1e6))
		return false;
	reading->value =
		(int64_t)(real * GP_NUMBER_MILLION + (real < 0 ? -0.5 : 0.5));
	return true;
}

/* Skips numbers that this release of gpupool does not know: no limit can name
 * them. */
static enum gp_status read_numbers(const struct reading *r, json_t *object,
				   struct gp_record_device *device)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return bad(r, "a device has no numbers");
	device->readings = gp_arena_alloc(&r->store->arena, r->numbers->count,
					  sizeof(*device->readings));
	json_object_foreach(object, key, value)
	{
		size_t i = gp_numbers_find(r->numbers, key);

		if (i != GP_NUMBER_NONE &&
		    !read_value(&r->numbers->items[i], value,
				&device->readings[i]))
			return bad(r, "one of its numbers is none that a run "
				      "can have");
	}
	return GP_OK;
}

/* ---- records ---- */

static enum gp_status read_devices(const struct reading *r,
				   const json_t *devices,
				   struct gp_record *record)
{
	enum gp_status status = GP_OK;

	if (!json_is_array(devices))
		return bad(r, "it has no devices");
	record->device_count = json_array_size(devices);
	if (record->device_count > MOST_DEVICES)
		return bad(r, "it has too many devices");
	record->devices = gp_arena_alloc(&r->store->arena, record->device_count,
					 sizeof(*record->devices));
	for (size_t i = 0; i < record->device_count && status == GP_OK; i++) {
		const json_t *object = json_array_get(devices, i);
		struct gp_record_device *device = &record->devices[i];

		device->device = (uint32_t)json_integer_value(
			json_object_get(object, "device"));
		status = read_numbers(r, json_object_get(object, "numbers"),
				      device);
		if (status == GP_OK)
			status = read_print(
				r, json_object_get(object, "fingerprint"),
				&device->fingerprint);
	}
	return status;
}

static enum gp_status read_asked(const struct reading *r, const json_t *object,
				 struct gp_gate_asked *asked)
{
	const json_t *capacity = json_object_get(object, "capacity");
	const char *unlimited = json_string_value(capacity);
	enum gp_status status;

	if (json_integer_value(capacity) < 0)
		return bad(r, "its capacity is not a number");
	asked->capacity = (uint64_t)json_integer_value(capacity);
	if (unlimited && !strcmp(unlimited, "unlimited"))
		asked->capacity = GP_UNLIMITED;
	status = read_text(r, object, "settings", &asked->settings);
	if (status == GP_OK)
		status = read_text(r, object, "torch", &asked->torch);
	if (status == GP_OK)
		status = read_text(r, object, "engine", &asked->engine);
	return status;
}

static enum gp_status read_record(const struct reading *r, const char *name,
				  const json_t *object,
				  struct gp_record *record)
{
	const json_t *played = json_object_get(object, "played");
	enum gp_status status;

	if (!load_is_plain(name))
		return bad(r, "a name has control characters");
	gp_diag_record(r->diag, "run %.80s", name);
	if (!json_is_object(object))
		return bad(r, "it is not an object");
	record->name = gp_arena_text(&r->store->arena, name, strlen(name));
	status =
		read_asked(r, json_object_get(object, "asked"), &record->asked);
	if (status == GP_OK)
		status = read_text(r, object, "trace", &record->trace);
	if (status == GP_OK)
		status = read_text(r, played, "alloc_conf", &record->conf);
	if (status == GP_OK)
		status = read_text(r, played, "torch", &record->torch);
	if (status == GP_OK && (!record->conf || !record->torch))
		status = bad(r, "it does not say under which settings and "
				"release it was played");
	if (status == GP_OK)
		status = read_devices(r, json_object_get(object, "devices"),
				      record);
	return status;
}

static int by_name(const void *a, const void *b)
{
	const struct gp_record *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static enum gp_status read_records(const struct reading *r, const json_t *root)
{
	struct gp_baseline *baseline = &r->store->baseline;
	const char *schema = json_string_value(json_object_get(root, "schema"));
	json_t *runs = json_object_get(root, "runs");
	enum gp_status status = GP_OK;
	const char *name;
	json_t *object;

	if (!schema || strcmp(schema, SCHEMA) != 0)
		return bad(r, "it is not a baseline of this gpupool: its "
			      "schema is not " SCHEMA);
	if (!json_is_object(runs))
		return bad(r, "it has no runs");
	baseline->records =
		gp_arena_alloc(&r->store->arena, json_object_size(runs),
			       sizeof(*baseline->records));
	json_object_foreach(runs, name, object)
	{
		status = read_record(
			r, name, object,
			&baseline->records[baseline->record_count++]);
		if (status != GP_OK)
			return status;
	}
	if (baseline->record_count)
		qsort(baseline->records, baseline->record_count,
		      sizeof(*baseline->records), by_name);
	return GP_OK;
}

static struct store *create(void)
{
	struct store *store = gp_mem_alloc(1, sizeof(*store));

	store->baseline.memory = store;
	return store;
}

enum gp_status gp_baseline_parse(const char *text, size_t size,
				 const struct gp_numbers *numbers,
				 struct gp_baseline **baseline,
				 struct gp_diag *diag)
{
	struct store *store = create();
	struct reading r = { numbers, store, diag };
	json_t *root = NULL;
	enum gp_status status = load_json(text, size, &root, diag);

	if (status == GP_OK)
		status = read_records(&r, root);
	json_decref(root);
	if (status == GP_OK) {
		*diag = (struct gp_diag){ 0 };
		*baseline = &store->baseline;
	} else {
		gp_diag_hint(diag, "gpupool check --update writes a new one");
		gp_baseline_destroy(&store->baseline);
	}
	return status;
}

enum gp_status gp_baseline_read(const char *path,
				const struct gp_numbers *numbers,
				bool may_be_missing,
				struct gp_baseline **baseline,
				struct gp_diag *diag)
{
	enum gp_status status;
	bool missing;
	char *text = NULL;
	size_t size = 0;

	status = load_file(path, &text, &size, &missing, diag);
	if (missing && may_be_missing) {
		*diag = (struct gp_diag){ 0 };
		*baseline = &create()->baseline;
		return GP_OK;
	}
	if (missing) {
		gp_diag_hint(diag, "gpupool check --update writes it; commit "
				   "it with the traces");
		gp_diag_set(diag, GP_INPUT, "the baseline is missing");
	}
	if (status == GP_OK)
		status = gp_baseline_parse(text, size, numbers, baseline, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	free(text);
	return status;
}

void gp_baseline_destroy(struct gp_baseline *baseline)
{
	struct store *store = baseline ? baseline->memory : NULL;

	if (!store)
		return;
	gp_arena_release(&store->arena);
	free(store);
}

const struct gp_record *gp_baseline_find(const struct gp_baseline *baseline,
					 const char *name)
{
	for (size_t i = 0; i < baseline->record_count; i++)
		if (!strcmp(baseline->records[i].name, name))
			return &baseline->records[i];
	return NULL;
}

const struct gp_record_device *gp_record_find(const struct gp_record *record,
					      uint32_t ordinal)
{
	for (size_t i = 0; record && i < record->device_count; i++)
		if (record->devices[i].device == ordinal)
			return &record->devices[i];
	return NULL;
}

/* ---- staleness ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

enum gp_status gp_record_check(const struct gp_record *record,
			       const struct gp_gate_run *run,
			       struct gp_diag *diag)
{
	const char *what = NULL;
	char name[512];

	if (!record)
		what = "the baseline is stale: it has no such run";
	else if (!same_text(record->asked.settings, run->asked.settings))
		what = "the baseline is stale: it was made with other settings";
	else if (!same_text(record->asked.torch, run->asked.torch))
		what = "the baseline is stale: it was made with another "
		       "release";
	else if (!same_text(record->asked.engine, run->asked.engine))
		what = "the baseline is stale: it was made with another engine";
	else if (record->asked.capacity != run->asked.capacity)
		what = "the baseline is stale: it was made with another "
		       "capacity";
	if (!what)
		return GP_OK;
	gp_diag_hint(diag,
		     "look at its new numbers, then run: gpupool check "
		     "--update --only %s",
		     gp_quote_shell(run->name, name, sizeof(name)));
	return gp_diag_set(diag, GP_INPUT, "%s", what);
}

/* ---- writing: sorted, one number per line, for diffs ---- */

#define MARKS_A_ROW 5

static void write_row(struct gp_emit *json,
		      const struct gp_fingerprint_mark *marks, size_t count)
{
	char row[MARKS_A_ROW * MARK_DIGITS + 1] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(row + i * MARK_DIGITS, MARK_DIGITS + 1,
			 "%06" PRIx32 "%06" PRIx32, marks[i].program,
			 marks[i].allocator);
	gp_emit_text(json, NULL, row);
}

static void write_fingerprint(struct gp_emit *json,
			      const struct gp_fingerprint *fingerprint)
{
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, fingerprint->digest);
	gp_emit_open(json, "fingerprint", '{', GP_EMIT_LINES);
	gp_emit_open(json, "marks", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < fingerprint->count; i += MARKS_A_ROW)
		write_row(json, fingerprint->marks + i,
			  fingerprint->count - i < MARKS_A_ROW
				  ? fingerprint->count - i
				  : MARKS_A_ROW);
	gp_emit_close(json, ']');
	gp_emit_text(json, "program", digest);
	gp_emit_uint(json, "requests", fingerprint->requests);
	gp_emit_uint(json, "spacing", fingerprint->spacing);
	gp_emit_close(json, '}');
}

static void write_record_device(struct gp_emit *json,
				const struct gp_record *record,
				const struct gp_numbers *numbers, size_t d)
{
	const struct gp_record_device *device = &record->devices[d];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	write_fingerprint(json, &device->fingerprint);
	gp_emit_open(json, "numbers", '{', GP_EMIT_LINES);
	for (size_t i = 0; i < numbers->count; i++)
		if (device->readings[i].is_there)
			gp_gate_emit_value(json, numbers->items[i].name,
					   &numbers->items[i],
					   device->readings[i].value);
	gp_emit_close(json, '}');
	gp_emit_close(json, '}');
}

static void write_asked(struct gp_emit *json, const struct gp_gate_asked *asked)
{
	gp_emit_open(json, "asked", '{', GP_EMIT_LINES);
	if (asked->capacity == GP_UNLIMITED)
		gp_emit_text(json, "capacity", "unlimited");
	else if (asked->capacity)
		gp_emit_uint(json, "capacity", asked->capacity);
	else
		gp_emit_null(json, "capacity");
	gp_emit_text(json, "engine", asked->engine);
	gp_emit_text(json, "settings", asked->settings);
	gp_emit_text(json, "torch", asked->torch);
	gp_emit_close(json, '}');
}

static void write_record(struct gp_emit *json, const struct gp_record *record,
			 const struct gp_numbers *numbers)
{
	gp_emit_open(json, record->name, '{', GP_EMIT_LINES);
	write_asked(json, &record->asked);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < record->device_count; i++)
		write_record_device(json, record, numbers, i);
	gp_emit_close(json, ']');
	gp_emit_open(json, "played", '{', GP_EMIT_LINES);
	gp_emit_text(json, "alloc_conf", record->conf);
	gp_emit_text(json, "torch", record->torch);
	gp_emit_close(json, '}');
	gp_emit_text(json, "trace", record->trace);
	gp_emit_close(json, '}');
}

static int by_record_name(const void *a, const void *b)
{
	const struct gp_record *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void gp_baseline_write(const struct gp_record *const *records, size_t count,
		       const struct gp_numbers *numbers, FILE *out)
{
	const struct gp_record **sorted = gp_mem_alloc(count, sizeof(*sorted));
	struct gp_emit json = { .out = out };

	for (size_t i = 0; i < count; i++)
		sorted[i] = records[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_record_name);
	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_open(&json, "runs", '{', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_record(&json, sorted[i], numbers);
	gp_emit_close(&json, '}');
	gp_emit_text(&json, "schema", SCHEMA);
	gp_emit_close(&json, '}');
	free(sorted);
}
