/* SPDX-License-Identifier: MIT */
/*
 * One setting: checking its value and storing it in struct gp_settings.
 * PyTorch: the parse... functions of AllocatorConfig.cpp and
 * CUDAAllocatorConfig.cpp, releases 2.0 to 2.15.
 */
#include "allocator/conf.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"

/*
 * ---- values ----
 *
 * Numbers are parsed as by the C++ standard library: leading digits count, the
 * rest is ignored, and an error carries the name of the function.
 */

/*
 * A fraction of the device, or "40G": GiB. PyTorch reads it with a stream and
 * requires the whole text to be a decimal number; false if PyTorch ignores it.
 */
struct gp_conf_reserve {
	double fraction; /* 0: bytes counts */
	uint64_t bytes;
};

/* Address space beyond 9/8 of the device has no effect. */
#define MOST_DEVICES 1e6

static enum gp_status no_number(struct gp_conf *conf, const char *function,
				const char *text)
{
	gp_diag_hint(conf->diag,
		     "PyTorch says no more than this; \"%.60s\" is not a "
		     "number, or is too large",
		     text);
	return gp_diag_set(conf->diag, GP_INPUT, "%s", function);
}

static enum gp_status to_unsigned(struct gp_conf *conf, const char *function,
				  const char *text, uint64_t *value)
{
	unsigned long long parsed;
	char *end;

	errno = 0;
	/* "-1" is the largest value, as in C++ */
	parsed = strtoull(text, &end, 10);
	if (end == text || errno)
		return no_number(conf, function, text);
	*value = parsed;
	return GP_OK;
}

/* std::stoul up to 2.9, for the intervals of a list. */
static enum gp_status conf_unsigned(struct gp_conf *conf, const char *text,
				    uint64_t *value)
{
	return to_unsigned(conf, conf->is_strict ? "stoul" : "stoull", text,
			   value);
}

/* std::stoi converted to size_t up to 2.9, std::stoull from 2.10 on. */
static enum gp_status conf_integer(struct gp_conf *conf, const char *text,
				   uint64_t *value)
{
	char *end;
	long parsed;

	if (!conf->is_strict)
		return to_unsigned(conf, "stoull", text, value);
	errno = 0;
	parsed = strtol(text, &end, 10);
	if (end == text || errno || parsed < INT_MIN || parsed > INT_MAX)
		return no_number(conf, "stoi", text);
	*value = (uint64_t)parsed; /* "-1" is the largest size_t */
	return GP_OK;
}

/* std::stod. */
static enum gp_status conf_real(struct gp_conf *conf, const char *text,
				double *value)
{
	char *end;
	double parsed;

	errno = 0;
	parsed = strtod(text, &end);
	if (end == text || errno)
		return no_number(conf, "stod", text);
	*value = parsed;
	return GP_OK;
}

/* The token at that position: must be True or False. */
static enum gp_status conf_bool(struct gp_conf *conf, size_t at,
				const char *name, bool *value)
{
	bool is_true = gp_conf_is(conf, at, "True");

	if (is_true || gp_conf_is(conf, at, "False")) {
		*value = is_true;
		return GP_OK;
	}
	gp_diag_hint(conf->diag, "%s takes True or False, written like this",
		     name);
	if (conf->is_strict)
		return gp_diag_set(conf->diag, GP_INPUT,
				   "Expected a single True/False argument for "
				   "%s",
				   name);
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Expected 'True' or 'False' at index %zu in "
			   "ConfigTokenizer but got '%s'",
			   at, conf->tokens[at]);
}

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

/* A complete decimal number: no "0x", no "inf", nothing after it. */
static bool is_decimal(const char *text, const char *end)
{
	const char *start = text += *text == '+' || *text == '-', *point;

	point = skip_digits(text);
	text = *point == '.' ? skip_digits(point + 1) : point;
	if (text - start == (*point == '.'))
		return false; /* no digit */
	if (*text == 'e' || *text == 'E') {
		text++;
		start = text += *text == '+' || *text == '-';
		text = skip_digits(text);
		if (text == start)
			return false;
	}
	return text == end;
}

static bool conf_reserve(const char *text, struct gp_conf_reserve *reserve)
{
	const char *end = text + strlen(text);
	bool is_gib = end != text && (end[-1] == 'G' || end[-1] == 'g');
	double value;

	if (!is_decimal(text, end - is_gib))
		return false;
	value = strtod(text, NULL);
	if (!isfinite(value) || value <= 0)
		return false;
	*reserve = (struct gp_conf_reserve){ 0 };
	if (!is_gib)
		reserve->fraction = value < MOST_DEVICES ? value : MOST_DEVICES;
	else if (value >= 0x1p34)
		reserve->bytes = UINT64_MAX; /* exceeds any device: no limit */
	else
		reserve->bytes = (uint64_t)(value * 0x1p30);
	if (is_gib &&
	    !reserve->bytes) /* below one byte: set, but without effect */
		reserve->fraction = DBL_MIN;
	return true;
}

static bool conf_is_power(uint64_t value)
{
	return value && !(value & (value - 1));
}

/*
 * ---- roundup_power2_divisions: a number, or a list by interval ----
 *
 * PyTorch: parseRoundUpPower2Divisions.
 */

/* The state of parsing a list. */
struct list {
	size_t last; /* last interval named; 0: none so far */
	bool is_begun;
};

static bool has(const struct gp_conf *conf, enum gp_change change)
{
	return gp_release_has(conf->settings->release, change);
}

static enum gp_status refuse_list(struct gp_conf *conf, const char *what,
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
	return refuse_list(conf,
			   has(conf, GP_CHANGE_DIVISIONS_SPELLED)
				   ? "divisions has"
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

/* Reads the value of a pair. *at: the position of the key; then of the
 * value. */
static enum gp_status read_value(struct gp_conf *conf, size_t *at,
				 uint64_t *value)
{
	bool may_be_zero = has(conf, GP_CHANGE_DIVISION_ONE);
	enum gp_status status = gp_conf_value(
		conf, at, "Error parsing roundup_power2_divisions value");

	if (status == GP_OK)
		status = conf_integer(conf, conf->tokens[*at], value);
	if (status == GP_OK && !conf_is_power(*value) &&
	    (*value || !may_be_zero))
		return refuse_divisions(conf, may_be_zero);
	return status;
}

/* The first interval named also sets all those below it; an interval between
 * two named ones keeps its value. */
static enum gp_status set_interval(struct gp_conf *conf, struct list *list,
				   const char *key, uint64_t value)
{
	uint64_t mib;
	enum gp_status status = conf_unsigned(conf, key, &mib);

	if (status != GP_OK)
		return status;
	if (!conf_is_power(mib))
		return refuse_list(conf, "intervals have", "");
	list->last = interval_of(mib);
	fill(conf, list->is_begun ? list->last : 0, list->last + 1, value);
	list->is_begun = true;
	return GP_OK;
}

/* Reads a pair. *at: the position of the key; then that of the token before the
 * next key, or before "]". */
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

/* *at: the position of the value; then that of its last token. */
static enum gp_status divisions_read(struct gp_conf *conf, size_t *at)
{
	uint64_t value;
	enum gp_status status;

	if (gp_conf_is(conf, *at, "["))
		return read_list(conf, at);
	status = conf_integer(conf, conf->tokens[*at], &value);
	if (status != GP_OK)
		return status;
	if (!conf_is_power(value))
		return refuse_divisions(conf, false);
	fill(conf, 0, GP_DIVISIONS, value);
	return GP_OK;
}

/* ---- settings ---- */

#define MIB	       (UINT64_C(1) << 20)
#define MAX_MIB	       (UINT64_MAX / MIB)
#define LEAST_SEGMENT  10  /* MiB: kMinLargeAlloc */
#define MOST_REGISTERS 128 /* pinned_max_register_threads */

static enum gp_status refuse(struct gp_conf *conf, const struct gp_knob *knob,
			     const char *what)
{
	gp_diag_hint(conf->diag, "%s takes: %s", knob->name, knob->range);
	return gp_diag_set(conf->diag, GP_INPUT, "%s", what);
}

static uint64_t bytes_of(uint64_t mib)
{
	return (mib < MAX_MIB ? mib : MAX_MIB) * MIB;
}

/* ---- one reader per kind of setting; at: the position of the value ---- */

/* Must not be below the large segment size; up to 2.9 it must be above it. */
static enum gp_status read_size(struct gp_conf *conf,
				const struct gp_knob *knob, size_t at,
				uint64_t *size)
{
	uint64_t least = conf->settings->large_segment_size / MIB, mib;
	bool may_equal = gp_release_has(conf->settings->release,
					GP_CHANGE_SPLIT_FROM_SEGMENT);
	enum gp_status status = conf_integer(conf, conf->tokens[at], &mib);
	char what[128];

	if (status != GP_OK)
		return status;
	if (may_equal ? mib < least : mib <= least) {
		snprintf(what, sizeof(what),
			 "CachingAllocator option %s too small, must be %s "
			 "%" PRIu64,
			 knob->name, may_equal ? ">=" : ">", least);
		return refuse(conf, knob, what);
	}
	*size = bytes_of(mib);
	return GP_OK;
}

static enum gp_status read_max_split(struct gp_conf *conf,
				     const struct gp_knob *knob, size_t at)
{
	return read_size(conf, knob, at, &conf->settings->max_split_size);
}

static enum gp_status read_rounding(struct gp_conf *conf,
				    const struct gp_knob *knob, size_t at)
{
	return read_size(conf, knob, at,
			 &conf->settings->max_non_split_rounding);
}

static enum gp_status read_segment(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	uint64_t mib;
	enum gp_status status = conf_integer(conf, conf->tokens[at], &mib);

	if (status != GP_OK)
		return status;
	if (mib <= LEAST_SEGMENT)
		return refuse(conf, knob,
			      "CachingAllocator option large_segment_size_mb "
			      "must be > 10 MB");
	conf->settings->large_segment_size = bytes_of(mib);
	return GP_OK;
}

static const char *threshold_fault(const struct gp_conf *conf, double ratio)
{
	if (!conf->is_strict)
		return "garbage_collect_threshold is invalid, set it in (0.0, "
		       "1.0)";
	return ratio > 0
		       ? "garbage_collect_threshold too big, set it 0.0~1.0"
		       : "garbage_collect_threshold too small, set it 0.0~1.0";
}

static enum gp_status read_threshold(struct gp_conf *conf,
				     const struct gp_knob *knob, size_t at)
{
	double ratio;
	enum gp_status status = conf_real(conf, conf->tokens[at], &ratio);

	if (status != GP_OK)
		return status;
	if (!(ratio > 0 && ratio < 1))
		return refuse(conf, knob, threshold_fault(conf, ratio));
	conf->settings->gc_threshold = ratio;
	return GP_OK;
}

static enum gp_status read_fraction(struct gp_conf *conf,
				    const struct gp_knob *knob, size_t at)
{
	double ratio;
	enum gp_status status = conf_real(conf, conf->tokens[at], &ratio);

	if (status != GP_OK)
		return status;
	if (!(ratio >= 0 && ratio <= 1))
		return refuse(conf, knob,
			      "per_process_memory_fraction is invalid, set it "
			      "in [0.0, 1.0]");
	conf->settings->memory_fraction = ratio;
	return GP_OK;
}

static enum gp_status read_reserve(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	struct gp_conf_reserve reserve;

	(void)knob;
	if (conf_reserve(conf->tokens[at], &reserve)) {
		conf->settings->reserve_fraction = reserve.fraction;
		conf->settings->reserve_bytes = reserve.bytes;
	}
	return GP_OK;
}

/* The backend of a program was chosen when it started: native. */
static enum gp_status read_backend(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	if (gp_conf_is(conf, at, "native"))
		return GP_OK;
	if (!gp_conf_is(conf, at, "cudaMallocAsync"))
		return refuse(conf, knob,
			      "Unknown allocator backend, options are native "
			      "and cudaMallocAsync");
	return refuse(conf, knob,
		      conf->is_strict
			      ? "Allocator backend parsed at runtime != "
				"allocator backend parsed at load time"
			      : "Allocator backend parsed at runtime != "
				"allocator backend parsed at load time, "
				"cudaMallocAsync != native");
}

/* From 2.10 on PyTorch's message contains the number. */
static enum gp_status refuse_threads(struct gp_conf *conf,
				     const struct gp_knob *knob,
				     const char *what, uint64_t count)
{
	char text[128];

	if (conf->is_strict)
		return refuse(conf, knob, what);
	snprintf(text, sizeof(text), "%s, got %" PRIu64, what, count);
	return refuse(conf, knob, text);
}

static enum gp_status read_threads(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	uint64_t count;
	enum gp_status status = conf_integer(conf, conf->tokens[at], &count);

	if (status != GP_OK)
		return status;
	if (!conf_is_power(count))
		return refuse_threads(conf, knob,
				      "Number of register threads has to be "
				      "power of 2",
				      count);
	if (count > MOST_REGISTERS)
		return refuse_threads(conf, knob,
				      "Number of register threads should be "
				      "less than or equal to 128",
				      count);
	return GP_OK;
}

static enum gp_status read_pinned_reserve(struct gp_conf *conf,
					  const struct gp_knob *knob, size_t at)
{
	uint64_t mib;
	enum gp_status status = conf_integer(conf, conf->tokens[at], &mib);

	if (status != GP_OK)
		return status;
	if (!mib)
		return refuse(conf, knob,
			      "Pinned reserve segment size has to be greater "
			      "than 0");
	conf->settings->pinned_reserve = bytes_of(mib);
	return GP_OK;
}

static enum gp_status read_plain(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t at)
{
	const char *name = knob->alias_of ? knob->alias_of : knob->name;
	char *member = (char *)conf->settings + knob->member;
	enum gp_status status;
	uint64_t number;
	bool flag;

	if (knob->type == GP_KNOB_BOOL)
		return conf_bool(conf, at, name,
				 knob->member ? (bool *)member : &flag);
	status = conf_integer(conf, conf->tokens[at], &number);
	if (status == GP_OK && knob->type == GP_KNOB_MIB)
		*(uint64_t *)(void *)member = bytes_of(number);
	return status;
}

/* Indexed by what has to be checked beyond the type. */
static enum gp_status (*const readers[GP_KNOBS])(struct gp_conf *conf,
						 const struct gp_knob *knob,
						 size_t at) = {
	[GP_KNOB_MAX_SPLIT] = read_max_split,
	[GP_KNOB_MAX_NON_SPLIT_ROUNDING] = read_rounding,
	[GP_KNOB_GC_THRESHOLD] = read_threshold,
	[GP_KNOB_LARGE_SEGMENT] = read_segment,
	[GP_KNOB_FRACTION] = read_fraction,
	[GP_KNOB_RESERVE] = read_reserve,
	[GP_KNOB_BACKEND] = read_backend,
	[GP_KNOB_REGISTER_THREADS] = read_threads,
	[GP_KNOB_PINNED_RESERVE] = read_pinned_reserve,
	[GP_KNOB_EXPANDABLE] = read_plain,
	[GP_KNOB_RELEASE_LOCK] = read_plain,
	[GP_KNOB_PLAIN] = read_plain,
};

/* ---- class lists, and the table of readers ---- */

/* Traces have no allocation classes, so only the form of [name:value,...] is
 * checked; a wrong token in the place of a separator is ignored. */
static enum gp_status skip_classes(struct gp_conf *conf, size_t *at)
{
	const char *token;
	enum gp_status status = gp_conf_value(conf, at, "");

	while (status == GP_OK && !gp_conf_is(conf, *at + 1, "]")) {
		*at += 3; /* name, separator, value */
		status = gp_conf_token(conf, *at, &token);
		if (status == GP_OK)
			status = gp_conf_token(conf, *at + 1, &token);
		*at += gp_conf_is(conf, *at + 1, ",");
	}
	++*at;
	return status;
}

/* The message of releases up to 2.9 for a key without a value. */
static void say_missing(const struct gp_knob *knob, char *text, size_t room)
{
	const char *name = knob->alias_of ? knob->alias_of : knob->name;

	switch (knob->id) {
	case GP_KNOB_BACKEND:
		snprintf(text, room, "Error parsing backend value");
		break;
	case GP_KNOB_EXPANDABLE:
	case GP_KNOB_RELEASE_LOCK:
		snprintf(text, room,
			 "Expected a single True/False argument for %s", name);
		break;
	default: snprintf(text, room, "Error, expecting %s value", name);
	}
}

enum gp_status gp_conf_read_knob(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t *at)
{
	char missing[96];
	enum gp_status status;

	if (knob->id == GP_KNOB_RESERVE_BY_CLASS)
		return skip_classes(conf, at);
	say_missing(knob, missing, sizeof(missing));
	status = gp_conf_value(conf, at, missing);
	if (status != GP_OK)
		return status;
	if (knob->id == GP_KNOB_ROUNDUP)
		return divisions_read(conf, at);
	return readers[knob->id](conf, knob, *at);
}
