/* SPDX-License-Identifier: MIT */
/* An axis of a sweep: "NAME=VALUE,...", with ranges. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "study/space.h"
#include "study/sweep/axis.h"

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

/* ---- values ---- */

struct values {
	char **items;
	size_t count, room;
};

static void add(struct values *values, char *text)
{
	values->items = gp_mem_grow(values->items, &values->room,
				    values->count + 1, sizeof(char *));
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
		return gp_diag_set(diag, GP_USAGE,
				   "--set: all goes without other values");
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
		return gp_diag_set(diag, GP_USAGE, "--set %s: all is no value",
				   axis->name);
	}
	return GP_OK;
}

/* ---- the axis ---- */

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
		gp_diag_hint(diag, "see: gpupool help settings, and gpupool "
				   "help engines; besides, there are torch, "
				   "capacity and engine");
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
