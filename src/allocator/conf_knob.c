/* SPDX-License-Identifier: MIT */
/*
 * One setting: its value, checked and put into struct gp_settings.
 * PyTorch: the parse... functions of AllocatorConfig.cpp and
 * CUDAAllocatorConfig.cpp, releases 2.0 to 2.15.
 */
#include "allocator/conf_knob.h"

#include <inttypes.h>
#include <stdio.h>

#include "allocator/conf_values.h"
#include "allocator/divisions.h"
#include "allocator/release.h"

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

/* ---- by setting; at is where the value is ---- */

/* Not below the large segment size; up to 2.9, above it. */
static enum gp_status read_size(struct gp_conf *conf,
				const struct gp_knob *knob, size_t at,
				uint64_t *size)
{
	uint64_t least = conf->settings->large_segment_size / MIB, mib;
	bool may_equal = gp_release_has(conf->settings->release,
					GP_CHANGE_SPLIT_FROM_SEGMENT);
	enum gp_status status = gp_conf_integer(conf, conf->tokens[at], &mib);
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
	enum gp_status status = gp_conf_integer(conf, conf->tokens[at], &mib);

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
	enum gp_status status = gp_conf_real(conf, conf->tokens[at], &ratio);

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
	enum gp_status status = gp_conf_real(conf, conf->tokens[at], &ratio);

	if (status != GP_OK)
		return status;
	if (!(ratio >= 0 && ratio <= 1))
		return refuse(conf, knob,
			      "per_process_memory_fraction is invalid, set it "
			      "in [0.0, 1.0]");
	conf->settings->memory_fraction = ratio;
	return GP_OK;
}

static enum gp_status read_expandable(struct gp_conf *conf,
				      const struct gp_knob *knob, size_t at)
{
	return gp_conf_bool(conf, at, knob->name,
			    &conf->settings->expandable_segments);
}

static enum gp_status read_throw(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t at)
{
	return gp_conf_bool(conf, at, knob->name,
			    &conf->settings->throw_on_oom);
}

static enum gp_status read_capture_reuse(struct gp_conf *conf,
					 const struct gp_knob *knob, size_t at)
{
	return gp_conf_bool(conf, at, knob->name,
			    &conf->settings->capture_reuse);
}

static enum gp_status read_reserve(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	struct gp_conf_reserve reserve;

	(void)knob;
	if (gp_conf_reserve(conf->tokens[at], &reserve)) {
		conf->settings->reserve_fraction = reserve.fraction;
		conf->settings->reserve_bytes = reserve.bytes;
	}
	return GP_OK;
}

/* Which one a program runs was settled when it started: native. */
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

/* PyTorch names the number from 2.10 on. */
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
	enum gp_status status = gp_conf_integer(conf, conf->tokens[at], &count);

	if (status != GP_OK)
		return status;
	if (!gp_conf_is_power(count))
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
	enum gp_status status = gp_conf_integer(conf, conf->tokens[at], &mib);

	if (status == GP_OK && !mib)
		return refuse(conf, knob,
			      "Pinned reserve segment size has to be greater "
			      "than 0");
	return status;
}

static enum gp_status read_ignored(struct gp_conf *conf,
				   const struct gp_knob *knob, size_t at)
{
	const char *name = knob->alias_of ? knob->alias_of : knob->name;
	uint64_t number;
	bool flag;

	if (knob->type == GP_KNOB_BOOL)
		return gp_conf_bool(conf, at, name, &flag);
	return gp_conf_integer(conf, conf->tokens[at], &number);
}

static enum gp_status (*const readers[GP_KNOBS])(struct gp_conf *conf,
						 const struct gp_knob *knob,
						 size_t at) = {
	[GP_KNOB_MAX_SPLIT] = read_max_split,
	[GP_KNOB_MAX_NON_SPLIT_ROUNDING] = read_rounding,
	[GP_KNOB_GC_THRESHOLD] = read_threshold,
	[GP_KNOB_EXPANDABLE] = read_expandable,
	[GP_KNOB_LARGE_SEGMENT] = read_segment,
	[GP_KNOB_FRACTION] = read_fraction,
	[GP_KNOB_THROW_ON_OOM] = read_throw,
	[GP_KNOB_CAPTURE_REUSE] = read_capture_reuse,
	[GP_KNOB_RESERVE] = read_reserve,
	[GP_KNOB_BACKEND] = read_backend,
	[GP_KNOB_REGISTER_THREADS] = read_threads,
	[GP_KNOB_PINNED_RESERVE] = read_pinned_reserve,
	[GP_KNOB_RELEASE_LOCK] = read_ignored,
	[GP_KNOB_IGNORED] = read_ignored,
};

/* ---- lists, and all of them ---- */

/* Classes are not in traces: [name:value,...] is read for its form alone, in
 * which what stands where a separator should is passed over. */
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

/* What releases up to 2.9 say of a key with nothing behind its colon. */
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
		return gp_divisions_read(conf, at);
	return readers[knob->id](conf, knob, *at);
}
