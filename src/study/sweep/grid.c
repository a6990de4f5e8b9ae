/* SPDX-License-Identifier: MIT */
/* The grid of a sweep: its axes, and the combinations of their values in
 * order. */
#include "study/sweep/grid.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/mem.h"
#include "device/gpu.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "study/space.h"

/* ---- an axis: "NAME=VALUE,...", with ranges ---- */

#define MOST_VALUES 10000
#define MOST_DIGITS 15 /* most digits, so that sums fit 64 bits */

/* A number as typed: digits / 10^places, followed by a unit. */
struct number {
	uint64_t digits;
	unsigned places;
	char unit[8];
};

/* Reads a number with its unit and advances *at past it. */
static bool read_number(const char **at, struct number *number)
{
	const char *p = *at;
	unsigned count = 0, unit = 0;
	bool is_after_point = false;

	*number = (struct number){ 0 };
	for (; isdigit((unsigned char)*p) ||
	       (*p == '.' && p[1] != '.' && !is_after_point);
	     p++) {
		if (*p == '.') {
			is_after_point = true;
			continue;
		}
		if (++count > MOST_DIGITS)
			return false;
		number->digits = number->digits * 10 + (uint64_t)(*p - '0');
		number->places += is_after_point;
	}
	while (isalpha((unsigned char)*p) && unit < sizeof(number->unit) - 1)
		number->unit[unit++] = *p++;
	*at = p;
	return count > 0;
}

static bool scale(struct number *number, unsigned places)
{
	for (; number->places < places; number->places++) {
		if (number->digits > UINT64_MAX / 1000)
			return false;
		number->digits *= 10;
	}
	return true;
}

/* The text of a number: "0.7", "512", "24GiB". */
static char *number_text(struct number number)
{
	char text[64], digits[32];
	size_t length;

	while (number.places && number.digits % 10 == 0) {
		number.digits /= 10;
		number.places--;
	}
	length = (size_t)snprintf(digits, sizeof(digits), "%0*" PRIu64,
				  (int)number.places + 1, number.digits);
	snprintf(text, sizeof(text), "%.*s%s%s%s",
		 (int)(length - number.places), digits,
		 number.places ? "." : "", digits + length - number.places,
		 number.unit);
	return gp_mem_copy_text(text, strlen(text));
}

/* ---- the values of an axis ---- */

struct values {
	char **items;
	size_t count, room;
};

static void add(struct values *values, char *text)
{
	GP_GROW(values->items, values->count + 1, values->room);
	values->items[values->count++] = text;
}

struct range {
	struct number from, to, step;
	bool is_product;
};

/* Parses "A..B*F" or "A..B+S". */
static bool read_range(const char *text, struct range *range)
{
	const char *at = text;
	struct number *step = &range->step;
	unsigned places;

	if (!read_number(&at, &range->from) || strncmp(at, "..", 2) != 0)
		return false;
	at += 2;
	if (!read_number(&at, &range->to) || (*at != '*' && *at != '+'))
		return false;
	range->is_product = *at++ == '*';
	if (!read_number(&at, step) || *at)
		return false;
	if (strcmp(range->from.unit, range->to.unit) != 0 ||
	    (*step->unit && strcmp(step->unit, range->to.unit) != 0))
		return false;
	if (range->is_product)
		return step->digits >= 2 && !step->places && !*step->unit &&
		       range->from.digits &&
		       scale(&range->from, range->to.places) &&
		       scale(&range->to, range->from.places);
	places = range->from.places > range->to.places ? range->from.places
						       : range->to.places;
	places = step->places > places ? step->places : places;
	return step->digits && scale(&range->from, places) &&
	       scale(&range->to, places) && scale(step, places);
}

static enum gp_status add_range(struct values *values, const char *text,
				struct gp_diag *diag)
{
	struct range range;

	if (!read_range(text, &range) || range.from.digits > range.to.digits) {
		gp_diag_hint(diag, "for example 32..512*2, 0.6..0.9+0.1 or "
				   "24GiB..80GiB+8GiB");
		return gp_diag_set(diag, GP_USAGE, "%.100s is not a range",
				   text);
	}
	for (struct number at = range.from; at.digits <= range.to.digits;) {
		if (values->count >= MOST_VALUES)
			return gp_diag_set(diag, GP_USAGE,
					   "%.100s has too many values", text);
		add(values, number_text(at));
		if (!range.is_product)
			at.digits += range.step.digits;
		else if (at.digits > range.to.digits / range.step.digits)
			break;
		else
			at.digits *= range.step.digits;
	}
	return GP_OK;
}

/* PyTorch expects True and False, engines true and false; users may type
 * either. */
static char *spelled(const struct gp_axis *axis, const char *item,
		     size_t length)
{
	if (length == 4 && !strncasecmp(item, "true", 4))
		item = axis->is_of_engine ? "true" : "True";
	else if (length == 5 && !strncasecmp(item, "false", 5))
		item = axis->is_of_engine ? "false" : "False";
	else if (length == 4 && !strncasecmp(item, "none", 4))
		item = "none";
	return gp_mem_copy_text(item, length);
}

/* A path of an engine may contain "..", too. */
static bool is_range(const struct gp_axis *axis, const char *text)
{
	return strcmp(axis->name, "engine") != 0 && strstr(text, "..") &&
	       *text != '[';
}

static enum gp_status add_value(const struct gp_axis *axis,
				struct values *values, const char *item,
				size_t length, struct gp_diag *diag)
{
	char *text = spelled(axis, item, length);
	enum gp_status status;

	if (!strcmp(text, "all")) {
		free(text);
		return gp_diag_set(
			diag, GP_USAGE,
			"--set: all cannot be combined with other values");
	}
	if (!length || !is_range(axis, text)) {
		add(values, text);
		return length ? GP_OK
			      : gp_diag_set(diag, GP_USAGE,
					    "a value is missing");
	}
	status = add_range(values, text, diag);
	free(text);
	return status;
}

/* ---- "all": every value ---- */

static void add_copy(struct values *values, const char *text)
{
	add(values, gp_mem_copy_text(text, strlen(text)));
}

/* Adds divisions up to the number of steps per power of two beyond which no
 * request is rounded. */
static void add_divisions(struct values *values, uint64_t largest)
{
	char text[32];

	add_copy(values, "none");
	for (uint64_t n = 1; n < largest / GP_MIN_BLOCK_SIZE; n *= 2) {
		snprintf(text, sizeof(text), "%" PRIu64, n);
		add_copy(values, text);
	}
}

static bool is_searched(const char *name)
{
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (!strcmp(gp_space_names[i], name))
			return true;
	return false;
}

static enum gp_status add_all(struct gp_axis *axis, struct values *values,
			      uint64_t largest, struct gp_diag *diag)
{
	if (!largest)
		return gp_diag_set(diag, GP_USAGE,
				   "--set %s=all is for gpupool sweep",
				   axis->name);
	if (!strcmp(axis->name, "expandable_segments")) {
		add_copy(values, "none");
		add_copy(values, "True");
	} else if (!strcmp(axis->name, "roundup_power2_divisions")) {
		add_divisions(values, largest);
	} else if (is_searched(axis->name)) {
		axis->is_all = true;
		add_copy(values, "none");
	} else {
		gp_diag_hint(diag,
			     "all is for max_split_size_mb, "
			     "garbage_collection_threshold, "
			     "large_segment_size_mb, expandable_segments and "
			     "roundup_power2_divisions");
		return gp_diag_set(diag, GP_USAGE,
				   "--set %s: all is not a value", axis->name);
	}
	return GP_OK;
}

/* ---- parsing an axis ---- */

static bool is_axis_name(const char *name)
{
	static const char *const others[] = { "torch", "capacity", "engine" };
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(knobs[i].name, name))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i], name))
			return true;
	return false;
}

enum gp_status gp_axis_parse(const char *text, uint64_t largest,
			     struct gp_axis *axis, struct gp_diag *diag)
{
	const char *equals = strchr(text, '='), *at, *item;
	struct values values = { 0 };
	enum gp_status status = GP_OK;
	size_t length;

	*axis = (struct gp_axis){ 0 };
	if (!equals || !equals[1]) {
		gp_diag_hint(diag, "for example "
				   "--set max_split_size_mb=none,64,128");
		return gp_diag_set(diag, GP_USAGE, "--set %.100s has no values",
				   text);
	}
	axis->name = gp_mem_copy_text(text, (size_t)(equals - text));
	axis->is_of_engine = !is_axis_name(axis->name);
	if (axis->is_of_engine && !gp_engine_setting(NULL, axis->name)) {
		gp_diag_hint(
			diag,
			"see: gpupool help settings, and gpupool help engines; "
			"torch, capacity and engine can be set, too");
		status = gp_diag_set(diag, GP_USAGE,
				     "--set: neither PyTorch nor an engine has "
				     "a setting %.100s",
				     axis->name);
	}
	at = equals + 1;
	if (status == GP_OK && !strcmp(at, "all")) {
		status = add_all(axis, &values, largest, diag);
		at += strlen(at);
	}
	while (status == GP_OK && (item = gp_conf_next(&at, &length)))
		status = add_value(axis, &values, item, length, diag);
	axis->values = values.items;
	axis->count = values.count;
	if (status != GP_OK)
		gp_axis_release(axis);
	return status;
}

void gp_axis_release(struct gp_axis *axis)
{
	for (size_t i = 0; i < axis->count; i++)
		free(axis->values[i]);
	free(axis->values);
	free(axis->name);
	*axis = (struct gp_axis){ 0 };
}

/* ---- equal combinations ---- */

#define MOST_COMBINATIONS 1000000

/* A hash of a combination, equal for equal combinations. */
static uint64_t digest(const struct gp_combination *c)
{
	uint64_t hash = gp_hash64(c->capacity);

	hash = gp_hash64(hash ^ c->settings.release);
	hash = gp_hash64(hash ^ (uint64_t)(uintptr_t)c->engine);
	for (const char *at = c->conf; *at; at++)
		hash = gp_hash64(hash ^ (unsigned char)*at);
	return hash;
}

static bool is_same(const struct gp_combination *a,
		    const struct gp_combination *b)
{
	return a->capacity == b->capacity && a->engine == b->engine &&
	       a->settings.release == b->settings.release &&
	       !strcmp(a->conf, b->conf);
}

/* ---- engines ---- */

static enum gp_status open_engine(const struct gp_grid_config *config,
				  struct gp_grid *grid, const char *name,
				  struct gp_diag *diag)
{
	struct gp_engine_library library = config->library;
	struct gp_engine *engine;
	enum gp_status status;

	library.path = name;
	status = gp_engine_open(&library, &engine, diag);
	if (status != GP_OK)
		return status;
	GP_GROW(grid->engines, grid->engine_count + 1, grid->engine_room);
	grid->engines[grid->engine_count++] =
		(struct gp_grid_engine){ gp_mem_copy_text(name, strlen(name)),
					 engine };
	return GP_OK;
}

/* Finds or opens an engine. Each is opened once, so that equal combinations
 * have equal addresses. */
static enum gp_status find_engine(const struct gp_grid_config *config,
				  struct gp_grid *grid, const char *name,
				  const struct gp_engine **engine,
				  struct gp_diag *diag)
{
	enum gp_status status;

	/* An engine that runs in a child process needs to know the program to
	 * start. */
	*engine = gp_engine_find(name);
	if (*engine && !((*engine)->settings && (*engine)->needs))
		return GP_OK;
	for (size_t i = 0; i < grid->engine_count; i++)
		if (!strcmp(grid->engines[i].name, name)) {
			*engine = grid->engines[i].engine;
			return GP_OK;
		}
	status = open_engine(config, grid, name, diag);
	if (status == GP_OK)
		*engine = grid->engines[grid->engine_count - 1].engine;
	return status;
}

/* ---- one combination ---- */

/* A combination under construction. */
struct draft {
	struct gp_combination c;
	char *engine; /* owned: name of the engine, with its settings */
};

static enum gp_status wrong(const struct gp_axis *axis, const char *value,
			    struct gp_diag *diag)
{
	return gp_diag_set(diag, GP_USAGE, "--set %s: there is no %s %.80s",
			   axis->name, axis->name, value);
}

static enum gp_status apply_capacity(struct gp_combination *c,
				     const char *value, struct gp_diag *diag)
{
	struct gp_diag why = { 0 };

	if (gp_capacity_parse(value, &c->capacity, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(diag, "%s", why.hint);
	return gp_diag_set(diag, GP_USAGE, "--set capacity=%.400s", why.what);
}

/* Applies a setting; a later axis of the same name replaces it. */
static void apply_setting(struct gp_combination *c, const struct gp_axis *axis,
			  const char *value)
{
	char *conf = gp_conf_with(c->conf, axis->name, value);

	free(c->conf);
	c->conf = conf;
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (!strcmp(gp_space_names[i], axis->name))
			c->searched = (c->searched & ~(1U << i)) |
				      (unsigned)axis->is_all << i;
}

static void rename_engine(struct draft *draft, char *name)
{
	free(draft->engine);
	draft->engine = name;
}

/* Applies one value of one axis. */
static enum gp_status apply(struct draft *draft, const struct gp_axis *axis,
			    const char *value, struct gp_diag *diag)
{
	struct gp_combination *c = &draft->c;
	bool is_set = strcmp(value, "none") != 0;

	if (!strcmp(axis->name, "torch"))
		return gp_release_parse(value, &c->settings.release, diag) ==
				       GP_OK
			       ? GP_OK
			       : wrong(axis, value, diag);
	if (!strcmp(axis->name, "capacity"))
		return apply_capacity(c, value, diag);
	if (!strcmp(axis->name, "engine"))
		rename_engine(draft, gp_mem_copy_text(value, strlen(value)));
	else if (!axis->is_of_engine)
		apply_setting(c, axis, is_set ? value : NULL);
	else if (gp_engine_setting(draft->engine, axis->name))
		rename_engine(draft, gp_engine_with(draft->engine, axis->name,
						    is_set ? value : NULL));
	return GP_OK;
}

/* For other engines than PyTorch's: drops all of PyTorch's settings, except the
 * one that applies to every engine. */
static void drop_foreign(struct gp_combination *c, uint8_t release)
{
	static const char kept[] = "per_process_memory_fraction";
	const char *at = c->conf, *item;
	size_t length;
	char *conf;

	if (gp_engine_is_pytorch(c->engine->name))
		return;
	conf = gp_mem_alloc(strlen(c->conf) + 1, 1);
	while ((item = gp_conf_next(&at, &length)))
		if (length > strlen(kept) && !memcmp(item, kept, strlen(kept)))
			memcpy(conf, item, length);
	free(c->conf);
	c->conf = conf;
	c->settings.release = release;
	c->searched = 0;
}

/* The index-th combination; the last axis changes fastest. */
static enum gp_status combine(const struct gp_grid_config *config,
			      struct gp_grid *grid, size_t index,
			      struct gp_combination *c, struct gp_diag *diag)
{
	static const char by_default[] = "caching";
	struct draft draft = { .engine = gp_mem_copy_text(by_default,
							  strlen(by_default)) };
	size_t picks[64], rest = index;
	enum gp_status status = GP_OK;
	const char *conf;

	for (size_t a = config->axis_count; a-- > 0;) {
		picks[a] = rest % config->axes[a].count;
		rest /= config->axes[a].count;
	}
	conf = config->confs[rest];
	draft.c = (struct gp_combination){
		.conf = gp_mem_copy_text(conf, strlen(conf)),
		.capacity = config->capacity,
		.settings = { .release = config->release },
	};
	/* Engines are applied before their settings, whatever the order of the
	 * axes. */
	for (size_t a = 0; a < 2 * config->axis_count && status == GP_OK; a++) {
		const struct gp_axis *axis =
			&config->axes[a % config->axis_count];

		if (axis->is_of_engine == (a >= config->axis_count))
			status = apply(&draft, axis,
				       axis->values[picks[axis - config->axes]],
				       diag);
	}
	*c = draft.c;
	if (status == GP_OK)
		status = find_engine(config, grid, draft.engine, &c->engine,
				     diag);
	if (status == GP_OK)
		drop_foreign(c, config->release);
	free(draft.engine);
	return status;
}

static void judge(struct gp_combination *c)
{
	struct gp_diag diag = { 0 };

	gp_settings_init(&c->settings, c->settings.release);
	if (gp_settings_parse(&c->settings, c->conf, &diag) != GP_OK)
		c->reason = gp_mem_copy_text(diag.what, strlen(diag.what));
}

static enum gp_status total_of(const struct gp_grid_config *config,
			       size_t *total, struct gp_diag *diag)
{
	*total = config->conf_count;
	if (config->axis_count > 64)
		return gp_diag_set(diag, GP_USAGE, "too many --set");
	for (size_t a = 0; a < config->axis_count; a++) {
		*total *= config->axes[a].count;
		if (*total > MOST_COMBINATIONS)
			return gp_diag_set(diag, GP_USAGE,
					   "more than a million combinations");
	}
	return GP_OK;
}

/* Adds c to the grid unless it has an equal combination. */
static void keep(struct gp_grid *grid, struct gp_map *seen,
		 struct gp_combination *c)
{
	uint64_t key = digest(c);
	uint32_t before = gp_map_get(seen, key);

	if (before != GP_MAP_NONE && is_same(&grid->items[before], c)) {
		free(c->conf);
		return;
	}
	judge(c);
	gp_map_put(seen, key, (uint32_t)grid->count);
	grid->items[grid->count++] = *c;
}

/* GP_USAGE unless at least one of the engines has the setting. */
static enum gp_status check_setting(const struct gp_axis *axis,
				    const struct gp_grid *grid,
				    struct gp_diag *diag)
{
	size_t count;
	const struct gp_engine *engines = gp_engine_table(&count);

	for (size_t i = 0; i < grid->count; i++)
		if (gp_engine_setting(grid->items[i].engine->name, axis->name))
			return GP_OK;
	for (size_t i = count; i-- > 0;)
		if (gp_engine_setting(engines[i].name, axis->name))
			gp_diag_hint(diag, "it is a setting of --engine %s",
				     engines[i].name);
	return gp_diag_set(
		diag, GP_USAGE,
		"--set %s: none of the given engines has this setting",
		axis->name);
}

enum gp_status gp_grid_make(const struct gp_grid_config *config,
			    struct gp_grid *grid, struct gp_diag *diag)
{
	struct gp_map seen = { 0 };
	enum gp_status status;
	size_t total;

	*grid = (struct gp_grid){ 0 };
	status = total_of(config, &total, diag);
	if (status != GP_OK)
		return status;
	grid->items = gp_mem_alloc(total, sizeof(*grid->items));
	for (size_t i = 0; i < total && status == GP_OK; i++) {
		struct gp_combination c;

		status = combine(config, grid, i, &c, diag);
		if (status == GP_OK)
			keep(grid, &seen, &c);
		else
			free(c.conf);
	}
	for (size_t a = 0; a < config->axis_count && status == GP_OK; a++)
		if (config->axes[a].is_of_engine)
			status = check_setting(&config->axes[a], grid, diag);
	gp_map_release(&seen);
	if (status != GP_OK)
		gp_grid_release(grid);
	return status;
}

void gp_grid_release(struct gp_grid *grid)
{
	for (size_t i = 0; i < grid->count; i++) {
		free(grid->items[i].conf);
		free(grid->items[i].reason);
	}
	for (size_t i = 0; i < grid->engine_count; i++) {
		gp_engine_close(grid->engines[i].engine);
		free(grid->engines[i].name);
	}
	free(grid->engines);
	free(grid->items);
	*grid = (struct gp_grid){ 0 };
}
