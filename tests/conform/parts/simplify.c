/* SPDX-License-Identifier: MIT */
/* Simpler requests and settings of a failing trial. */
#include "simplify.h"

#include <string.h>

/* ---- settings ---- */

/* The end of the setting that begins at text; a list has commas of its own. */
static const char *setting_end(const char *text)
{
	int depth = 0;

	for (; *text && (depth || *text != ','); text++)
		depth += (*text == '[') - (*text == ']');
	return text;
}

/* Removes the setting at text, and the comma that is then left over. */
static void drop_setting(char *conf, size_t at)
{
	const char *end = setting_end(conf + at);

	if (*end == ',')
		end++;
	else if (at)
		at--;
	memmove(conf + at, end, strlen(end) + 1);
}

static bool drop_settings(struct trial *trial, const struct reducer *reducer)
{
	bool has_dropped = false;
	size_t at = 0;

	while (at < strlen(trial->conf)) {
		struct trial simpler;

		trial_copy(&simpler, trial);
		drop_setting(simpler.conf, at);
		if (reduce_try(trial, &simpler, reducer)) {
			has_dropped = true;
			continue;
		}
		at = (size_t)(setting_end(trial->conf + at) - trial->conf);
		at += trial->conf[at] == ',';
	}
	return has_dropped;
}

static bool take_more_memory(struct trial *trial, const struct reducer *reducer)
{
	static const uint64_t sizes[] = { 80 * GIB, GIB, 256 * MIB };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct trial simpler;

		if (trial->capacity == sizes[i])
			return false;
		trial_copy(&simpler, trial);
		simpler.capacity = sizes[i];
		if (reduce_try(trial, &simpler, reducer))
			return true;
	}
	return false;
}

/* ---- requests ---- */

static bool try_size(struct trial *trial, const struct reducer *reducer,
		     size_t i, uint64_t size)
{
	struct trial simpler;

	if (size == trial->ops[i].size)
		return false;
	trial_copy(&simpler, trial);
	simpler.ops[i].size = size;
	return reduce_try(trial, &simpler, reducer);
}

/* The smallest size, or a round one. */
static bool simplify_size(struct trial *trial, const struct reducer *reducer,
			  size_t i)
{
	static const uint64_t steps[] = { MIB, 512 };
	uint64_t size = trial->ops[i].size;

	if (size <= 512)
		return false;
	if (try_size(trial, reducer, i, 512))
		return true;
	if (size > 2 * MIB && try_size(trial, reducer, i, 2 * MIB))
		return true;
	for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
		uint64_t up = (size + steps[k] - 1) / steps[k] * steps[k];

		if (size % steps[k] == 0)
			return false;
		if (try_size(trial, reducer, i, size / steps[k] * steps[k]) ||
		    try_size(trial, reducer, i, up))
			return true;
	}
	return false;
}

static bool simplify_stream(struct trial *trial, const struct reducer *reducer,
			    size_t i)
{
	struct trial simpler;

	if (!trial->ops[i].stream || trial->ops[i].kind != GP_ALLOC)
		return false;
	trial_copy(&simpler, trial);
	simpler.ops[i].stream = 0;
	return reduce_try(trial, &simpler, reducer);
}

bool simplify(struct trial *trial, const struct reducer *reducer)
{
	bool is_simpler = drop_settings(trial, reducer);

	is_simpler |= take_more_memory(trial, reducer);
	for (size_t i = 0; i < trial->count; i++) {
		is_simpler |= simplify_stream(trial, reducer, i);
		if (trial->ops[i].kind == GP_ALLOC)
			is_simpler |= simplify_size(trial, reducer, i);
	}
	return is_simpler;
}
