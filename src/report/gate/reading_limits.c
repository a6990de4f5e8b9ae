/* SPDX-License-Identifier: MIT */
/* gpupool.json: limits, and names that are not known. */
#include "report/gate/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/gate/load.h"

/* A key that is not known is never passed over: a limit that is misspelled
 * would hold for ever. */
enum gp_status reading_unknown(const struct reading *r, const char *what,
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

bool reading_knows(const char *key, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(key, words[i]))
			return true;
	return false;
}

/*
 * Nothing may get worse: what holds for a number until a limit is given for
 * it, or for its twin.  The first two count what a program's reset of its
 * peaks hides from the twins.
 */
static const struct {
	const char *name, *twin;
} defaults[] = {
	{ "peak_reserved_bytes", "reserved_bytes.all.peak" },
	{ "peak_allocated_bytes", "allocated_bytes.all.peak" },
	{ "num_alloc_retries", NULL },
	{ "num_ooms", NULL },
	{ "dropped", "num_ooms" },
	{ "fidelity", NULL },
};

static enum gp_status limit_text(const struct reading *r, const json_t *value,
				 const char *key, char text[32])
{
	if (json_is_string(value))
		snprintf(text, 32, "%.31s", json_string_value(value));
	else if (json_is_integer(value) && json_integer_value(value) >= 0)
		snprintf(text, 32, "%" PRId64,
			 (int64_t)json_integer_value(value));
	else if (json_is_real(value) && json_real_value(value) >= 0)
		snprintf(text, 32, "%.9f", json_real_value(value));
	else
		return gp_diag_set(r->diag, GP_INPUT,
				   "the limit for %.64s is neither a text nor "
				   "a number",
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
	status = reading_unknown(r, "number", key, words, numbers->count);
	free(words);
	return status;
}

/* into: one for each number, kind GP_LIMIT_NONE and text "" until given. */
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

enum gp_status reading_limits(const struct reading *r, const json_t *own,
			      struct gp_gate_run *run)
{
	size_t count = r->config->numbers->count;
	struct gp_limit *all = gp_mem_alloc(count, sizeof(*all));
	enum gp_status status = read_limits(r, r->shared, all);

	if (status == GP_OK)
		status = read_limits(r, own, all);
	if (status == GP_OK) {
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
