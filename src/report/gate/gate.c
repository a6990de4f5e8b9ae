/* SPDX-License-Identifier: MIT */
/* Reads gpupool.json: the runs that are asked for, and their limits. */
#include "report/gate/gate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "device/gpu.h"
#include "report/gate/load.h"

struct gate_store {
	struct gp_gate gate;
	struct gp_arena arena;
};

struct reading {
	const struct gp_gate_config *config;
	struct gate_store *store;
	const json_t *shared; /* limits of all runs; NULL: none */
	struct gp_diag *diag;
};

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* ---- limits, and names that are not known ---- */

/* An unknown key is an error: a limit with a misspelled name would never
 * fail. */
static enum gp_status unknown(const struct reading *r, const char *what,
			      const char *key, const char *const *words,
			      size_t count)
{
	const char *near = NULL;

	if (r->config->nearest && load_is_plain(key))
		near = r->config->nearest(key, words, count);
	if (near)
		gp_diag_hint(r->diag, "did you mean %s?", near);
	return gp_diag_set(r->diag, GP_INPUT, "there is no %s %.60s", what,
			   load_is_plain(key) ? key : "of that name");
}

static bool knows(const char *key, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(key, words[i]))
			return true;
	return false;
}

/* A program that resets its peaks lowers PyTorch's counters, but not the
 * measures: a limit on a counter also applies to the measure. */
static const struct {
	const char *name, *counter;
} peaks[] = {
	{ "peak_reserved_bytes", "reserved_bytes.all.peak" },
	{ "peak_allocated_bytes", "allocated_bytes.all.peak" },
};

/* The default limits, "nothing may get worse": each applies unless a limit is
 * given for the number or for its twin. */
static const struct {
	const char *name, *twin;
} defaults[] = {
	{ "peak_reserved_bytes", NULL }, { "peak_allocated_bytes", NULL },
	{ "num_alloc_retries", NULL },	 { "num_ooms", NULL },
	{ "dropped", "num_ooms" },	 { "fidelity", NULL },
};

static enum gp_status limit_text(const struct reading *r, const json_t *value,
				 const char *key, char text[32])
{
	if (json_string_length(value) > 31)
		return gp_diag_set(r->diag, GP_INPUT,
				   "the limit for %.64s is too long", key);
	if (json_is_string(value))
		snprintf(text, 32, "%s", json_string_value(value));
	else if (json_is_integer(value) && json_integer_value(value) >= 0)
		snprintf(text, 32, "%" PRId64,
			 (int64_t)json_integer_value(value));
	else if (json_is_real(value) && json_real_value(value) >= 0)
		snprintf(text, 32, "%.9f", json_real_value(value));
	else
		return gp_diag_set(r->diag, GP_INPUT,
				   "the limit for %.64s is neither a text nor "
				   "a number of 0 or more",
				   key);
	if (load_is_plain(text))
		return GP_OK;
	return gp_diag_set(r->diag, GP_INPUT,
			   "the limit for %.64s has control characters", key);
}

static enum gp_status unknown_number(const struct reading *r, const char *key)
{
	const struct gp_numbers *numbers = r->config->numbers;
	const char **words = gp_mem_alloc(numbers->count, sizeof(*words));
	enum gp_status status;

	for (size_t i = 0; i < numbers->count; i++)
		words[i] = numbers->items[i].name;
	gp_diag_hint(r->diag, "gpupool replay TRACE --format json shows the "
			      "numbers there are");
	status = unknown(r, "number", key, words, numbers->count);
	free(words);
	return status;
}

/* into: an item for each number; those without a limit keep kind GP_LIMIT_NONE
 * and text "". */
static enum gp_status read_limits(const struct reading *r, const json_t *limits,
				  struct gp_limit *into)
{
	const struct gp_numbers *numbers = r->config->numbers;
	enum gp_status status = GP_OK;
	const char *key;
	json_t *value;
	char text[32];

	if (limits && !json_is_object(limits))
		return gp_diag_set(r->diag, GP_INPUT,
				   "limits is not an object");
	json_object_foreach((json_t *)limits, key, value)
	{
		size_t i = gp_numbers_find(numbers, key);

		if (i == GP_NUMBER_NONE)
			return unknown_number(r, key);
		into[i] = (struct gp_limit){ .number = i, .text = "null" };
		if (json_is_null(value))
			continue;
		status = limit_text(r, value, key, text);
		if (status == GP_OK)
			status = gp_limit_parse(&into[i], &numbers->items[i],
						text, r->diag);
		if (status != GP_OK)
			return status;
	}
	return GP_OK;
}

static bool is_given(const struct reading *r, const struct gp_limit *limits,
		     const char *name)
{
	return name && *limits[gp_numbers_find(r->config->numbers, name)].text;
}

static void limit_peaks(const struct reading *r, struct gp_limit *limits)
{
	for (size_t i = 0; i < COUNT_OF(peaks); i++) {
		size_t n = gp_numbers_find(r->config->numbers, peaks[i].name);

		if (*limits[n].text || !is_given(r, limits, peaks[i].counter))
			continue;
		limits[n] = limits[gp_numbers_find(r->config->numbers,
						   peaks[i].counter)];
		limits[n].number = n;
	}
}

static void add_defaults(const struct reading *r, struct gp_limit *limits)
{
	bool add[COUNT_OF(defaults)];

	for (size_t i = 0; i < COUNT_OF(defaults); i++)
		add[i] = !is_given(r, limits, defaults[i].name) &&
			 !is_given(r, limits, defaults[i].twin);
	for (size_t i = 0; i < COUNT_OF(defaults); i++) {
		size_t n =
			gp_numbers_find(r->config->numbers, defaults[i].name);

		if (add[i])
			limits[n] = (struct gp_limit){
				.number = n,
				.kind = GP_LIMIT_BY,
				.is_default = true,
				.text = "not worse",
			};
	}
}

static enum gp_status read_run_limits(const struct reading *r,
				      const json_t *own,
				      struct gp_gate_run *run)
{
	size_t count = r->config->numbers->count;
	struct gp_limit *all = gp_mem_alloc(count, sizeof(*all));
	enum gp_status status = read_limits(r, r->shared, all);

	if (status == GP_OK)
		status = read_limits(r, own, all);
	if (status == GP_OK) {
		limit_peaks(r, all);
		add_defaults(r, all);
		run->limits =
			gp_arena_alloc(&r->store->arena, count, sizeof(*all));
		for (size_t i = 0; i < count; i++)
			if (*all[i].text)
				run->limits[run->limit_count++] = all[i];
	}
	free(all);
	return status;
}

#define MOST_RUNS 10000
#define MOST_NAME 100
#define MOST_TEXT 4000 /* of paths and settings */

/* ---- keys ---- */

static const char *const file_keys[] = { "runs", "limits", "comment" };
static const char *const run_keys[] = { "name",	  "trace",    "settings",
					"torch",  "capacity", "engine",
					"limits", "comment" };

static enum gp_status check_keys(const struct reading *r, const json_t *object,
				 const char *const *words, size_t count)
{
	const char *key;
	json_t *value;

	json_object_foreach(
		(json_t *)object, key,
		value) if (!knows(key, words, count)) return unknown(r, "key",
								     key, words,
								     count);
	return GP_OK;
}

/* ---- settings: a text, or an object of PyTorch's names ---- */

static bool setting_text(const json_t *value, char *text, size_t room)
{
	if (json_is_boolean(value))
		snprintf(text, room, json_is_true(value) ? "True" : "False");
	else if (json_is_integer(value))
		snprintf(text, room, "%" PRId64,
			 (int64_t)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, room, "%.15g", json_real_value(value));
	else if (json_is_string(value) &&
		 load_is_plain(json_string_value(value)))
		snprintf(text, room, "%s", json_string_value(value));
	else
		return false;
	return true;
}

static enum gp_status check_setting(const struct reading *r, const char *key)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	const char **words = gp_mem_alloc(count, sizeof(*words));
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count; i++)
		words[i] = knobs[i].name;
	if (!knows(key, words, count))
		status = unknown(r, "setting", key, words, count);
	free(words);
	return status;
}

static enum gp_status join_settings(const struct reading *r,
				    const json_t *settings, char *conf,
				    size_t room)
{
	enum gp_status status = GP_OK;
	size_t length = 0;
	const char *key;
	json_t *value;
	char text[512];

	json_object_foreach((json_t *)settings, key, value)
	{
		status = check_setting(r, key);
		if (status != GP_OK)
			return status;
		if (json_is_null(value))
			continue;
		if (!setting_text(value, text, sizeof(text)))
			return gp_diag_set(r->diag, GP_INPUT,
					   "the setting %s has no plain value",
					   key);
		length += (size_t)snprintf(conf + length, room - length,
					   "%s%s:%s", length ? "," : "", key,
					   text);
		if (length >= room)
			return gp_diag_set(r->diag, GP_INPUT,
					   "settings are too long");
	}
	return GP_OK;
}

static enum gp_status read_settings(const struct reading *r,
				    const json_t *value, const char **settings)
{
	char conf[MOST_TEXT + 1] = "";
	enum gp_status status;
	size_t length;

	if (!json_is_object(value)) {
		status = load_text(value, "settings", MOST_TEXT,
				   &r->store->arena, settings, r->diag);
		if (status != GP_OK)
			return status;
		*settings = gp_conf_pasted(*settings, &length);
		*settings = gp_arena_text(&r->store->arena, *settings, length);
		return GP_OK;
	}
	status = join_settings(r, value, conf, sizeof(conf));
	if (status == GP_OK)
		*settings = gp_arena_text(&r->store->arena, conf, strlen(conf));
	return status;
}

static enum gp_status read_capacity(const struct reading *r,
				    const json_t *value, uint64_t *capacity)
{
	const char *text = json_string_value(value);
	struct gp_diag why = { 0 };
	char number[32];

	if (json_is_number(value)) {
		snprintf(number, sizeof(number), "%.17g",
			 json_number_value(value));
		if (json_is_integer(value))
			snprintf(number, sizeof(number), "%lld",
				 (long long)json_integer_value(value));
		text = number;
	}
	if (!text)
		return gp_diag_set(r->diag, GP_INPUT,
				   "capacity is not a size such as \"80GiB\"");
	if (gp_capacity_parse(text, capacity, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(r->diag, "%s", why.hint);
	return gp_diag_set(r->diag, GP_INPUT, "capacity %.400s", why.what);
}

/* ---- runs ---- */

/* The path is relative to the file, not to the current folder. */
static const char *beside(struct gp_arena *arena, const char *file,
			  const char *name)
{
	const char *slash = strrchr(file, '/');
	size_t folder = slash ? (size_t)(slash - file) + 1 : 0;
	size_t size = folder + strlen(name) + 3;
	char *path = gp_arena_alloc(arena, size, 1);

	if (*name == '/')
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%.*s%s%s", (int)folder, file,
			 *name == '-' && !folder ? "./" : "", name);
	return path;
}

/* Reads the texts of a run. */
static enum gp_status read_texts(const struct reading *r, const json_t *object,
				 struct gp_gate_run *run)
{
	struct {
		const char *key;
		const char **text;
		size_t most;
	} rows[] = {
		{ "trace", &run->trace, MOST_TEXT },
		{ "torch", &run->asked.torch, 40 },
		{ "engine", &run->asked.engine, 40 },
	};
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < COUNT_OF(rows) && status == GP_OK; i++) {
		const json_t *value = json_object_get(object, rows[i].key);

		if (value && !json_is_null(value))
			status = load_text(value, rows[i].key, rows[i].most,
					   &r->store->arena, rows[i].text,
					   r->diag);
	}
	return status;
}

static enum gp_status read_asked(const struct reading *r, const json_t *object,
				 struct gp_gate_run *run)
{
	const json_t *settings = json_object_get(object, "settings");
	const json_t *capacity = json_object_get(object, "capacity");
	enum gp_status status = read_texts(r, object, run);

	if (status == GP_OK && (!run->trace || !*run->trace))
		status = gp_diag_set(r->diag, GP_INPUT, "it names no trace");
	if (status == GP_OK && settings && !json_is_null(settings))
		status = read_settings(r, settings, &run->asked.settings);
	if (status == GP_OK && capacity && !json_is_null(capacity))
		status = read_capacity(r, capacity, &run->asked.capacity);
	return status;
}

static enum gp_status read_name(const struct reading *r, const json_t *object,
				size_t index, struct gp_gate_run *run)
{
	const struct gp_gate *gate = &r->store->gate;
	enum gp_status status;

	gp_diag_record(r->diag, "runs[%zu]", index);
	if (!json_is_object(object))
		return gp_diag_set(r->diag, GP_INPUT, "it is not an object");
	status = load_text(json_object_get(object, "name"), "name", MOST_NAME,
			   &r->store->arena, &run->name, r->diag);
	if (status != GP_OK)
		return status;
	if (!*run->name)
		return gp_diag_set(r->diag, GP_INPUT, "its name is empty");
	gp_diag_record(r->diag, "run %.80s", run->name);
	for (size_t i = 0; i < index; i++)
		if (!strcmp(gate->runs[i].name, run->name))
			return gp_diag_set(r->diag, GP_INPUT,
					   "there are two of that name");
	return GP_OK;
}

static enum gp_status read_run(const struct reading *r, const json_t *object,
			       size_t index)
{
	struct gp_gate_run *run = &r->store->gate.runs[index];
	enum gp_status status = read_name(r, object, index, run);

	if (status == GP_OK)
		status = check_keys(r, object, run_keys, COUNT_OF(run_keys));
	if (status == GP_OK)
		status = read_asked(r, object, run);
	if (status == GP_OK)
		status = read_run_limits(r, json_object_get(object, "limits"),
					 run);
	if (status == GP_OK)
		run->path =
			beside(&r->store->arena, r->config->path, run->trace);
	return status;
}

static void hint_least(struct gp_diag *diag)
{
	gp_diag_hint(diag, "the least file for check: {\"runs\": [{\"name\": "
			   "\"train\", \"trace\": \"train.pickle\"}]}");
}

static enum gp_status read_runs(struct reading *r, const json_t *root)
{
	const json_t *runs = json_object_get(root, "runs");
	size_t count = json_array_size(runs);
	struct gp_gate *gate = &r->store->gate;
	enum gp_status status;

	if (!count) {
		hint_least(r->diag);
		return gp_diag_set(r->diag, GP_INPUT, "it lists no runs");
	}
	status = check_keys(r, root, file_keys, COUNT_OF(file_keys));
	if (status == GP_OK && count > MOST_RUNS)
		status = gp_diag_set(r->diag, GP_INPUT,
				     "it lists more than %d runs", MOST_RUNS);
	if (status != GP_OK)
		return status;
	r->shared = json_object_get(root, "limits");
	gate->runs =
		gp_arena_alloc(&r->store->arena, count, sizeof(*gate->runs));
	for (size_t i = 0; i < count && status == GP_OK; i++) {
		gate->run_count = i + 1;
		status = read_run(r, json_array_get(runs, i), i);
	}
	return status;
}

/* gpupool.json -> gpupool.baseline.json */
static const char *baseline_path(struct gp_arena *arena, const char *path)
{
	size_t length = strlen(path), size = length + 16;
	char *made = gp_arena_alloc(arena, size, 1);

	if (length > 5 && !strcmp(path + length - 5, ".json"))
		length -= 5;
	snprintf(made, size, "%.*s.baseline.json", (int)length, path);
	return made;
}

enum gp_status gp_gate_parse(const struct gp_gate_config *config,
			     const char *text, size_t size,
			     struct gp_gate **gate, struct gp_diag *diag)
{
	struct gate_store *store = gp_mem_alloc(1, sizeof(*store));
	struct reading r = { .config = config, .store = store, .diag = diag };
	json_t *root = NULL;
	enum gp_status status = load_json(text, size, &root, diag);

	store->gate.memory = store;
	store->gate.path = gp_arena_text(&store->arena, config->path,
					 strlen(config->path));
	store->gate.baseline_path = baseline_path(&store->arena, config->path);
	/* The file may be a trace: if so, say that. */
	if (status != GP_OK)
		hint_least(diag);
	else
		status = read_runs(&r, root);
	json_decref(root);
	if (status == GP_OK) {
		*diag = (struct gp_diag){ 0 };
		*gate = &store->gate;
	} else {
		gp_diag_file(diag, config->path);
		gp_gate_destroy(&store->gate);
	}
	return status;
}

enum gp_status gp_gate_read(const struct gp_gate_config *config,
			    struct gp_gate **gate, struct gp_diag *diag)
{
	enum gp_status status;
	bool missing;
	char *text = NULL;
	size_t size = 0;

	status = load_file(config->path, &text, &size, &missing, diag);
	if (status == GP_OK)
		status = gp_gate_parse(config, text, size, gate, diag);
	else
		gp_diag_file(diag, config->path);
	if (missing)
		hint_least(diag);
	free(text);
	return status;
}

void gp_gate_destroy(struct gp_gate *gate)
{
	struct gate_store *store = gate ? gate->memory : NULL;

	if (!store)
		return;
	gp_arena_release(&store->arena);
	free(store);
}
