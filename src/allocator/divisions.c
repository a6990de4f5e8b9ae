/* SPDX-License-Identifier: MIT */
/*
 * roundup_power2_divisions: a number, or a list by interval.
 * PyTorch: parseRoundUpPower2Divisions.
 */
#include "allocator/divisions.h"

#include "allocator/conf_values.h"
#include "allocator/release.h"

/* A list while it is read. */
struct list {
	size_t last; /* interval named last; 0 before there is one */
	bool is_begun;
};

static bool has(const struct gp_conf *conf, enum gp_change change)
{
	return gp_release_has(conf->settings->release, change);
}

static enum gp_status refuse(struct gp_conf *conf, const char *what,
			     const char *condition)
{
	gp_diag_hint(conf->diag, "for example roundup_power2_divisions:8, or "
				 "[256:1,512:2,1024:4,>:8]");
	return gp_diag_set(conf->diag, GP_INPUT,
			   "For roundups, the %s to be power of 2%s", what,
			   condition);
}

static enum gp_status refuse_divisions(struct gp_conf *conf, bool may_be_zero)
{
	return refuse(conf,
		      has(conf, GP_CHANGE_DIVISIONS_SPELLED) ? "divisions has"
							     : "divisons has",
		      may_be_zero ? " or 0 to disable roundup" : "");
}

static void fill(struct gp_conf *conf, size_t from, size_t to, uint64_t value)
{
	while (from < to)
		conf->settings->divisions[from++] = value;
}

static size_t interval_of(uint64_t mib)
{
	size_t log2 = 63 - (size_t)__builtin_clzll(mib);

	return log2 < GP_DIVISIONS ? log2 : GP_DIVISIONS - 1;
}

/* The value of a pair; at: of its key, then of the value. */
static enum gp_status read_value(struct gp_conf *conf, size_t *at,
				 uint64_t *value)
{
	bool may_be_zero = has(conf, GP_CHANGE_DIVISION_ONE);
	enum gp_status status = gp_conf_value(
		conf, at, "Error parsing roundup_power2_divisions value");

	if (status == GP_OK)
		status = gp_conf_integer(conf, conf->tokens[*at], value);
	if (status == GP_OK && !gp_conf_is_power(*value) &&
	    (*value || !may_be_zero))
		return refuse_divisions(conf, may_be_zero);
	return status;
}

/* The first interval named also serves all below it; one between two named
 * ones is nobody's and stays as it was. */
static enum gp_status set_interval(struct gp_conf *conf, struct list *list,
				   const char *key, uint64_t value)
{
	uint64_t mib;
	enum gp_status status = gp_conf_unsigned(conf, key, &mib);

	if (status != GP_OK)
		return status;
	if (!gp_conf_is_power(mib))
		return refuse(conf, "intervals have", "");
	list->last = interval_of(mib);
	fill(conf, list->is_begun ? list->last : 0, list->last + 1, value);
	list->is_begun = true;
	return GP_OK;
}

/* at: of the key; then of what stands before the next one, or before "]". */
static enum gp_status read_pair(struct gp_conf *conf, size_t *at,
				struct list *list)
{
	size_t key = *at;
	uint64_t value = 0;
	enum gp_status status = read_value(conf, at, &value);

	if (status != GP_OK)
		return status;
	if (gp_conf_is(conf, key, ">"))
		fill(conf, list->last + has(conf, GP_CHANGE_LIST_FILL),
		     GP_DIVISIONS, value);
	else
		status = set_interval(conf, list, conf->tokens[key], value);
	if (status != GP_OK || gp_conf_is(conf, *at + 1, "]"))
		return status;
	return gp_conf_pass(conf, at, ",");
}

/* Up to 2.9 a list may end without its "]". */
static enum gp_status read_list(struct gp_conf *conf, size_t *at)
{
	struct list list = { 0 };
	enum gp_status status = GP_OK;

	while (status == GP_OK && gp_conf_has(conf, ++*at) &&
	       !gp_conf_is(conf, *at, "]"))
		status = read_pair(conf, at, &list);
	if (status == GP_OK && !gp_conf_has(conf, *at) && !conf->is_strict)
		return gp_conf_unclosed(conf);
	return status;
}

enum gp_status gp_divisions_read(struct gp_conf *conf, size_t *at)
{
	uint64_t value;
	enum gp_status status;

	if (gp_conf_is(conf, *at, "["))
		return read_list(conf, at);
	status = gp_conf_integer(conf, conf->tokens[*at], &value);
	if (status != GP_OK)
		return status;
	if (!gp_conf_is_power(value))
		return refuse_divisions(conf, false);
	fill(conf, 0, GP_DIVISIONS, value);
	return GP_OK;
}
