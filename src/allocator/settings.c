/* SPDX-License-Identifier: MIT */
/*
 * PYTORCH_CUDA_ALLOC_CONF, parsed as each release parses it.
 *
 * Up to 2.9 there is one parser (CUDAAllocatorConfig::parseArgs). From 2.10 on
 * there are two, each of which skips the other's keys: one for all accelerators
 * (AcceleratorAllocatorConfig::parseArgs) and CUDA's. At run time the former
 * runs first; when a program starts, CUDA's does. Before either, the backend is
 * determined: parseEnvForBackend.
 */
#include <math.h>
#include <string.h>

#include "allocator/conf.h"
#include "allocator/release.h"
#include "base/larger.h"
#include "gpupool/knob.h"

#define DEFAULT_LARGE_SEGMENT (UINT64_C(20) << 20) /* bytes: kLargeBuffer */

void gp_settings_init(struct gp_settings *settings, uint8_t release)
{
	*settings = (struct gp_settings){
		.release = release,
		.max_split_size = GP_UNLIMITED,
		.max_non_split_rounding = DEFAULT_LARGE_SEGMENT,
		.large_segment_size = DEFAULT_LARGE_SEGMENT,
		.memory_fraction = 1.0,
		.pinned_round_most = GP_UNLIMITED,
		.pinned_cached_most = GP_UNLIMITED,
	};
}

/* ---- keys ---- */

static const struct gp_knob *knob_named(const char *key)
{
	size_t count;
	const struct gp_knob *table = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(key, table[i].name))
			return &table[i];
	return NULL;
}

static bool knows(const struct gp_conf *conf, const struct gp_knob *knob)
{
	return knob && conf->settings->release >= knob->since;
}

static void hint_key(struct gp_conf *conf, const struct gp_knob *knob)
{
	if (knob)
		gp_diag_hint(conf->diag,
			     "%s exists from PyTorch 2.%d on; this is 2.%d "
			     "(--torch chooses another)",
			     knob->name, knob->since, conf->settings->release);
	else
		gp_diag_hint(conf->diag, "gpupool help settings lists them");
}

static enum gp_status unknown_key(struct gp_conf *conf, size_t at, int reader)
{
	const char *key = conf->tokens[at];

	hint_key(conf, knob_named(key));
	if (conf->is_strict)
		return gp_diag_set(conf->diag, GP_INPUT,
				   "Unrecognized CachingAllocator option: %s",
				   key);
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Unrecognized key '%s' in %s allocator config.", key,
			   reader == GP_KNOB_OF_CUDA ? "CUDA" : "Accelerator");
}

/* ---- parsers ---- */

/* Steps over the comma after a value, unless the string ends. */
static enum gp_status next_key(struct gp_conf *conf, size_t *at)
{
	enum gp_status status = GP_OK;

	if (gp_conf_has(conf, *at + 1))
		status = gp_conf_pass(conf, at, ",");
	++*at;
	return status;
}

static enum gp_status read_strictly(struct gp_conf *conf)
{
	enum gp_status status = GP_OK;
	size_t at = 0;

	while (status == GP_OK && gp_conf_has(conf, at)) {
		const struct gp_knob *knob = knob_named(conf->tokens[at]);

		if (!knows(conf, knob))
			return unknown_key(conf, at, GP_KNOB_OF_CUDA);
		status = gp_conf_read_knob(conf, knob, &at);
		if (status == GP_OK)
			status = next_key(conf, &at);
	}
	return status;
}

/* Reads the keys of one of the two parsers; large_segment_size_mb has been read
 * already. */
static enum gp_status read_keys_of(struct gp_conf *conf, int reader)
{
	enum gp_status status = GP_OK;
	size_t at = 0;

	while (status == GP_OK && gp_conf_has(conf, at)) {
		const struct gp_knob *knob = knob_named(conf->tokens[at]);

		if (!knows(conf, knob))
			return unknown_key(conf, at, reader);
		if ((int)knob->reader == reader &&
		    knob->id != GP_KNOB_LARGE_SEGMENT)
			status = gp_conf_read_knob(conf, knob, &at);
		else
			status = gp_conf_skip(conf, &at);
		if (status == GP_OK)
			status = next_key(conf, &at);
	}
	return status;
}

/* Reads large_segment_size_mb first, wherever it is: the other sizes are
 * compared with it. */
static enum gp_status read_segment_size(struct gp_conf *conf)
{
	enum gp_status status = GP_OK;

	for (size_t at = 0; status == GP_OK && gp_conf_has(conf, at); at++) {
		const struct gp_knob *knob = knob_named(conf->tokens[at]);

		if (knows(conf, knob) && knob->id == GP_KNOB_LARGE_SEGMENT)
			status = gp_conf_read_knob(conf, knob, &at);
	}
	if (status == GP_OK)
		conf->settings->max_non_split_rounding =
			conf->settings->large_segment_size;
	return status;
}

static enum gp_status read_accelerator_keys(struct gp_conf *conf)
{
	enum gp_status status = GP_OK;

	if (gp_release_has(conf->settings->release, GP_CHANGE_ROUNDING_RESET))
		status = read_segment_size(conf);
	if (status == GP_OK)
		status = read_keys_of(conf, GP_KNOB_OF_ALL);
	return status;
}

/* ---- the backend ---- */

static enum gp_status refuse_async(struct gp_conf *conf)
{
	gp_diag_hint(conf->diag, "the driver decides where its memory is, so "
				 "there is nothing to replay: record with "
				 "backend:native");
	return gp_diag_set(conf->diag, GP_INPUT,
			   "backend:cudaMallocAsync cannot be replayed");
}

/* From 2.10 on: the first backend among the pairs, even an unknown one. */
static enum gp_status scan_pairs(struct gp_conf *conf)
{
	enum gp_status status = GP_OK;
	size_t at = 0;

	while (status == GP_OK && gp_conf_has(conf, at)) {
		bool is_backend = gp_conf_is(conf, at, "backend");

		status = is_backend ? gp_conf_value(conf, &at, "")
				    : gp_conf_skip(conf, &at);
		if (status == GP_OK && is_backend)
			return gp_conf_is(conf, at, "cudaMallocAsync")
				       ? refuse_async(conf)
				       : GP_OK;
		if (status == GP_OK)
			status = next_key(conf, &at);
	}
	return status;
}

static bool text_is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(text, word, length);
}

/* Up to 2.9: the first of native and cudaMallocAsync after "backend:",
 * delimited by spaces and commas. */
static enum gp_status scan_words(struct gp_conf *conf, const char *text)
{
	size_t length;

	for (; *text; text += length + (text[length] != 0)) {
		const char *value = text + strlen("backend");
		size_t colons, rest;

		length = strcspn(text, ", \t\n\v\f\r");
		if (length < strlen("backend:") ||
		    memcmp(text, "backend:", strlen("backend:")) != 0)
			continue;
		colons = strspn(value, ":");
		value += colons;
		rest = strcspn(value, ":, \t\n\v\f\r");
		if (text_is(value, rest, "native"))
			return GP_OK;
		if (text_is(value, rest, "cudaMallocAsync"))
			return refuse_async(conf);
	}
	return GP_OK;
}

/* ---- the whole string ---- */

static void reset(struct gp_settings *settings)
{
	settings->max_split_size = GP_UNLIMITED;
	settings->gc_threshold = 0;
	memset(settings->divisions, 0, sizeof(settings->divisions));
}

static enum gp_status read_at_start(struct gp_conf *conf, const char *text)
{
	enum gp_status status;

	if (conf->is_strict) {
		status = scan_words(conf, text);
		return status == GP_OK ? read_strictly(conf) : status;
	}
	status = scan_pairs(conf);
	if (status == GP_OK)
		status = read_keys_of(conf, GP_KNOB_OF_CUDA);
	if (status == GP_OK)
		status = read_accelerator_keys(conf);
	return status;
}

enum gp_status gp_settings_parse(struct gp_settings *settings, const char *text,
				 struct gp_diag *diag)
{
	struct gp_settings read = *settings;
	struct gp_conf conf;
	enum gp_status status;

	reset(&read);
	gp_conf_open(&conf, text, &read, diag);
	status = read_at_start(&conf, text);
	gp_conf_close(&conf);
	if (status == GP_OK)
		*settings = read;
	else if (strchr(text, '='))
		gp_diag_hint(diag, "settings are written key:value, with a "
				   "colon and not =");
	return status;
}

bool gp_conf_changes(const char *conf, const char *name, uint8_t release)
{
	struct gp_settings by_default, settings;
	struct gp_diag ignored = { 0 };
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	if (!gp_conf_names(conf, name))
		return false;
	gp_settings_init(&by_default, release);
	settings = by_default;
	if (gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return true;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(knobs[i].name, name) && knobs[i].member)
			return !gp_knob_is_equal(&knobs[i], &settings,
						 &by_default);
	return true;
}

enum gp_status gp_settings_set(struct gp_settings *settings, const char *text,
			       struct gp_diag *diag)
{
	struct gp_conf conf;
	enum gp_status status;

	reset(settings);
	gp_conf_open(&conf, text, settings, diag);
	if (conf.is_strict)
		status = read_strictly(&conf);
	else
		status = read_accelerator_keys(&conf);
	if (status == GP_OK && !conf.is_strict)
		status = read_keys_of(&conf, GP_KNOB_OF_CUDA);
	gp_conf_close(&conf);
	return status;
}

/*
 * ---- rounding ----
 *
 * PyTorch: DeviceCachingAllocator::round_size, roundup_power2_next_division,
 * get_allocation_size.
 */

#define MIB	     (UINT64_C(1) << 20)
#define SEGMENT_STEP (2 * MIB) /* kSmallBuffer and kRoundLarge */

static unsigned log2_of(uint64_t x)
{
	return 63 - (unsigned)__builtin_clzll(x);
}

/* The interval of a size: 0 up to 2 MiB, then one per power of two, 15 from 32
 * GiB on. */
static unsigned interval_of(uint64_t size)
{
	unsigned log2 = log2_of(size);

	if (log2 < 20)
		return 0;
	return log2 - 20 < GP_DIVISIONS ? log2 - 20 : GP_DIVISIONS - 1;
}

/* Rounds up to the next of `divisions` steps between two powers of two; or to
 * the power of two itself if a step would be less than a byte. */
static uint64_t round_to_division(uint64_t size, uint64_t divisions)
{
	uint64_t floor = UINT64_C(1) << log2_of(size);
	uint64_t step = floor >> log2_of(divisions);

	if (size == floor)
		return size;
	return step ? (size + step - 1) & ~(step - 1) : floor << 1;
}

uint64_t gp_settings_round(const struct gp_settings *settings, uint64_t size)
{
	uint64_t divisions;

	if (size < GP_MIN_BLOCK_SIZE)
		return GP_MIN_BLOCK_SIZE;
	divisions = settings->divisions[interval_of(size)];
	if (divisions && size > GP_MIN_BLOCK_SIZE * divisions) {
		if (divisions > 1)
			return round_to_division(size, divisions);
		if (!gp_release_has(settings->release, GP_CHANGE_DIVISION_ONE))
			return size; /* not even a multiple of 512 */
	}
	return (size + GP_MIN_BLOCK_SIZE - 1) & ~UINT64_C(511);
}

uint64_t gp_settings_segment(const struct gp_settings *settings,
			     uint64_t rounded)
{
	if (rounded <= MIB)
		return SEGMENT_STEP;
	if (rounded < 10 * MIB)
		return settings->large_segment_size;
	return gp_round_up(rounded, SEGMENT_STEP);
}

uint64_t gp_settings_device_for(const struct gp_settings *settings,
				uint64_t reserved)
{
	double fraction = settings->memory_fraction;

	if (fraction <= 0 || fraction >= 1)
		return reserved;
	return (uint64_t)ceil((double)reserved / fraction);
}

/* ---- ranges of equivalent settings ---- */

struct gp_alike gp_alike_of(const struct gp_settings *settings)
{
	return (struct gp_alike){
		.max_split_least = settings->max_split_size,
		.max_split_most = settings->max_split_size,
		.non_split_least = settings->max_non_split_rounding,
		.non_split_most = settings->max_non_split_rounding,
		.large_least = settings->large_segment_size,
		.large_most = settings->large_segment_size,
		.gc_off = settings->gc_threshold <= 0,
		/* 1 to 0, an empty range, if it is off */
		.gc_least =
			settings->gc_threshold > 0 ? settings->gc_threshold : 1,
		.gc_most =
			settings->gc_threshold > 0 ? settings->gc_threshold : 0,
	};
}

static bool is_between(uint64_t value, uint64_t least, uint64_t most)
{
	return least <= value && value <= most;
}

bool gp_alike_holds(const struct gp_alike *alike,
		    const struct gp_settings *settings)
{
	double gc = settings->gc_threshold;

	return is_between(settings->max_split_size, alike->max_split_least,
			  alike->max_split_most) &&
	       is_between(settings->max_non_split_rounding,
			  alike->non_split_least, alike->non_split_most) &&
	       is_between(settings->large_segment_size, alike->large_least,
			  alike->large_most) &&
	       (gc > 0 ? alike->gc_least <= gc && gc <= alike->gc_most
		       : alike->gc_off);
}
