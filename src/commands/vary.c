/* SPDX-License-Identifier: MIT */
#include "commands/vary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what varies ---- */

static bool is_name(const char *text, size_t length)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		"0123456789";

	return length && length < 60 && strspn(text, letters) >= length;
}

static bool read_number(const char **at, uint64_t *number)
{
	static const char digits[] = "0123456789";
	size_t length = strspn(*at, digits);

	if (!length || length > 18)
		return false;
	*number = strtoull(*at, NULL, 10);
	*at += length;
	return true;
}

/* Parses "batch_size=1..512". */
static bool parse(struct gp_vary *vary, const char *text)
{
	const char *at = strchr(text, '=');
	size_t length = at ? (size_t)(at - text) : 0;

	if (!is_name(text, length))
		return false;
	snprintf(vary->name, sizeof(vary->name), "%.*s", (int)length, text);
	at++;
	if (!read_number(&at, &vary->first) || strncmp(at, "..", 2) != 0)
		return false;
	at += 2;
	return read_number(&at, &vary->last) && !*at && vary->first &&
	       vary->first <= vary->last;
}

/* The next "{NAME}" in a text; NULL: none. */
static const char *place_in(const struct gp_vary *vary, const char *text)
{
	char place[sizeof(vary->name) + 2];

	snprintf(place, sizeof(place), "{%s}", vary->name);
	return text ? strstr(text, place) : NULL;
}

enum gp_status gp_vary_parse(struct gp_vary *vary,
			     const struct gp_options *options,
			     struct gp_diag *diag)
{
	const char *text = options->vary.items[0];
	bool is_there;

	gp_diag_file(diag, "fit");
	if (options->vary.count > 1)
		return gp_diag_set(diag, GP_USAGE,
				   "--vary %s and --vary %s: it finds the "
				   "largest of one number",
				   text, options->vary.items[1]);
	if (!parse(vary, text)) {
		gp_diag_hint(diag, "--vary batch_size=1..512 -- python "
				   "train.py --batch {batch_size}");
		return gp_diag_set(
			diag, GP_USAGE,
			"--vary %s: it takes a name and two whole "
			"numbers from 1 on, the smaller first: NAME=1..512",
			text);
	}
	is_there = place_in(vary, options->from_trace) != NULL;
	for (size_t i = 0; i < options->operand_count; i++)
		is_there |= place_in(vary, options->operands[i]) != NULL;
	if (!is_there)
		return gp_diag_set(diag, GP_USAGE,
				   "--vary %s: the command has no {%s}", text,
				   vary->name);
	if (options->kept && !place_in(vary, options->kept))
		return gp_diag_set(
			diag, GP_USAGE,
			"--keep %s: with --vary the name must contain {%s}, as "
			"one trace is kept for each value",
			options->kept, vary->name);
	return GP_OK;
}

static void drop(const char *text)
{
	free((char *)(uintptr_t)text);
}

void gp_vary_release(struct gp_vary *vary)
{
	for (size_t i = 0; i < vary->count; i++) {
		drop(vary->points[i].path);
		drop(vary->points[i].failure);
	}
	free(vary->points);
}

/* ---- replacing a place by a value ---- */

/* The text with the value in each of its places. */
static char *put_value(const struct gp_vary *vary, const char *text,
		       uint64_t value)
{
	size_t place = strlen(vary->name) + 2, size = strlen(text) + 1;
	const char *at;
	char *whole, *to;

	for (at = text; (at = place_in(vary, at)); at += place)
		size += 20;
	whole = to = gp_mem_alloc(size, 1);
	while ((at = place_in(vary, text))) {
		to += snprintf(to, size - (size_t)(to - whole), "%.*s%" PRIu64,
			       (int)(at - text), text, value);
		text = at + place;
	}
	snprintf(to, size - (size_t)(to - whole), "%s", text);
	return whole;
}

struct gp_options gp_vary_options(const struct gp_vary *vary,
				  const struct gp_options *options,
				  uint64_t value)
{
	struct gp_options with = *options;
	char **operands =
		gp_mem_alloc(options->operand_count + 1, sizeof(*operands));

	for (size_t i = 0; i < options->operand_count; i++)
		operands[i] = put_value(vary, options->operands[i], value);
	with.operands = (const char *const *)operands;
	if (options->from_trace)
		with.from_trace = put_value(vary, options->from_trace, value);
	if (options->kept)
		with.kept = put_value(vary, options->kept, value);
	return with;
}

void gp_vary_options_release(struct gp_options *options)
{
	for (size_t i = 0; i < options->operand_count; i++)
		drop(options->operands[i]);
	free((void *)(uintptr_t)options->operands);
	drop(options->from_trace);
	drop(options->kept);
}

/* ---- the search ---- */

struct search {
	struct gp_vary *vary;
	enum gp_status (*measure)(void *arg, struct gp_vary_point *point,
				  struct gp_diag *diag);
	void *arg;
};

static enum gp_status measure(const struct search *s, uint64_t value,
			      bool *fits, struct gp_diag *diag)
{
	struct gp_vary *v = s->vary;
	struct gp_vary_point point = { .value = value };
	enum gp_status status = s->measure(s->arg, &point, diag);
	size_t at = v->count;

	if (status != GP_OK)
		return status;
	GP_GROW(v->points, v->count + 1, v->room);
	for (; at && v->points[at - 1].value > value; at--)
		v->points[at] = v->points[at - 1];
	v->points[at] = point;
	v->count++;
	*fits = point.fits;
	return GP_OK;
}

enum gp_status gp_vary_search(
	struct gp_vary *vary,
	enum gp_status (*measure_one)(void *arg, struct gp_vary_point *point,
				      struct gp_diag *diag),
	void *arg, struct gp_diag *diag)
{
	const struct search s = { vary, measure_one, arg };
	uint64_t low = 0, high = vary->first; /* low fits; high may not */
	bool fits = true;
	enum gp_status status = measure(&s, high, &fits, diag);

	while (status == GP_OK && fits && high < vary->last) {
		low = high;
		high = high > vary->last / 2 ? vary->last : 2 * high;
		status = measure(&s, high, &fits, diag);
	}
	if (fits || !low)
		return status;
	while (status == GP_OK && high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		status = measure(&s, middle, &fits, diag);
		if (fits)
			low = middle;
		else
			high = middle;
	}
	return status;
}
