/* SPDX-License-Identifier: MIT */
/*
 * Settings: PyTorch's names, one row per setting, by release; and the releases.
 *
 * struct gp_settings configures an allocator. It is parsed once, so that
 * nothing below compares strings. Sources: c10/cuda/CUDAAllocatorConfig.{h,cpp}
 * and c10/core/AllocatorConfig.{h,cpp}, releases 2.0 to 2.15, and the behaviour
 * of those releases when run.
 */
#ifndef GPUPOOL_KNOB_H
#define GPUPOOL_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GP_UNLIMITED UINT64_MAX

/* Identifies a setting and the checks of its value. */
enum gp_knob_id {
	GP_KNOB_MAX_SPLIT,
	GP_KNOB_MAX_NON_SPLIT_ROUNDING,
	GP_KNOB_GC_THRESHOLD,
	GP_KNOB_ROUNDUP,
	GP_KNOB_EXPANDABLE,
	GP_KNOB_LARGE_SEGMENT,
	GP_KNOB_FRACTION,
	GP_KNOB_PINNED_RESERVE,
	GP_KNOB_RESERVE,
	GP_KNOB_RESERVE_BY_CLASS,
	GP_KNOB_BACKEND,
	GP_KNOB_REGISTER_THREADS,
	GP_KNOB_RELEASE_LOCK,
	GP_KNOB_PLAIN, /* no check beyond the type */
	GP_KNOBS,
};

enum gp_knob_type {
	GP_KNOB_MIB,	   /* whole MiB */
	GP_KNOB_RATIO,	   /* 0 to 1 */
	GP_KNOB_BOOL,	   /* True or False */
	GP_KNOB_DIVISIONS, /* a number, or [MiB:divisions,...,>:divisions] */
	GP_KNOB_SIZE,	   /* a fraction of the device, or GiB: 0.5, 40G */
	GP_KNOB_INTEGER,
	GP_KNOB_WORD,
};

struct gp_knob {
	const char *name; /* PyTorch's */
	/* The command-line flag, without dashes; NULL: none. */
	const char *flag;
	enum gp_knob_id id;
	enum gp_knob_type type;
	/* Offset of its member in struct gp_settings, or of the first of two;
	 * 0: it affects no decision. */
	uint16_t member;
	uint8_t since;	   /* first minor release that accepts it */
	const char *range; /* in words */
	const char *by_default;
	const char *sentence; /* what it does */
	/* Which of the two parsers, from 2.10 on, reads it. */
	enum { GP_KNOB_OF_ALL, GP_KNOB_OF_CUDA } reader;
	/* The setting that this is an alias of; NULL: none. */
	const char *alias_of;
};

/* All settings, in order of name. */
const struct gp_knob *gp_knob_table(size_t *count);
/* The setting with that command-line flag, without dashes; NULL: there is none.
 */
const struct gp_knob *gp_knob_by_flag(const char *flag);

/* Intervals of sizes, from 1 MiB (and below) to 32 GiB (and up). */
#define GP_DIVISIONS 16

struct gp_settings {
	uint8_t release;		  /* PyTorch 2.x */
	uint64_t max_split_size;	  /* bytes; GP_UNLIMITED: not set */
	uint64_t max_non_split_rounding;  /* bytes */
	uint64_t large_segment_size;	  /* bytes */
	double gc_threshold;		  /* ratio; 0: off */
	double memory_fraction;		  /* ratio of the device; 1: no limit */
	uint64_t divisions[GP_DIVISIONS]; /* 0: round to 512 */
	bool expandable_segments;
	bool capture_reuse; /* graph_capture_record_stream_reuse */
	bool throw_on_oom;
	double reserve_fraction; /* of the device; 0: not set */
	uint64_t reserve_bytes;	 /* 0: not set */
	/* Pinned host memory, in bytes: requests up to pinned_round_most are
	 * rounded up, and blocks up to pinned_cached_most are cached;
	 * GP_UNLIMITED: all are. */
	uint64_t pinned_round_most, pinned_cached_most;
	uint64_t pinned_reserve; /* bytes reserved in advance; 0: none */
	/* A thread processes events continuously. */
	bool pinned_background_thread;
};

/* Whether the setting has the same value in both. */
bool gp_knob_is_equal(const struct gp_knob *knob, const struct gp_settings *a,
		      const struct gp_settings *b);

/* Sets the defaults of that PyTorch release. */
void gp_settings_init(struct gp_settings *settings, uint8_t release);

/*
 * Parses PYTORCH_CUDA_ALLOC_CONF as settings->release does when a program
 * starts. Returns GP_INPUT, with PyTorch's reason in diag->what, if it does not
 * accept the string; settings are then unchanged.
 */
enum gp_status gp_settings_parse(struct gp_settings *settings, const char *conf,
				 struct gp_diag *diag);

/*
 * Parses a string as torch.cuda.memory._set_allocator_settings does at run
 * time: some settings are reset first, others keep their value unless named.
 * Returns GP_INPUT as above, but then settings are as PyTorch leaves them:
 * reset, and set up to the mistake.
 */
enum gp_status gp_settings_set(struct gp_settings *settings, const char *conf,
			       struct gp_diag *diag);

/*
 * Extracts the settings from text that was pasted, such as
 *
 *	export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
 *
 * with or without export, the name of the variable, and quotes. Returns a
 * pointer into text, and sets *length.
 */
const char *gp_conf_pasted(const char *text, size_t *length);
/* Whether the text contains the name of the variable. */
bool gp_conf_has_name(const char *text);

/* ---- conf strings: "name:value,name:[a,b]" ---- */

/* Returns the next item, which ends at a comma outside of brackets, without
 * surrounding blanks, sets *length, and advances *at. NULL: no more items. */
const char *gp_conf_next(const char **at, size_t *length);
/* The number of settings. */
size_t gp_conf_length(const char *conf);
/* Whether conf sets that setting. */
bool gp_conf_names(const char *conf, const char *name);
/* The same, but false if the value is that release's default, as in
 * expandable_segments:False. */
bool gp_conf_changes(const char *conf, const char *name, uint8_t release);
/* Returns conf without the named setting, or, if value is not NULL, with that
 * value of it; the caller frees it. */
char *gp_conf_with(const char *conf, const char *name, const char *value);

#define GP_MIN_BLOCK_SIZE  512 /* bytes: kMinBlockSize */
/* kSmallSize: the largest request, rounded, that the small pool serves. */
#define GP_SMALL_SIZE	   (UINT64_C(1) << 20)
/* kMinLargeAlloc: the smallest request whose segment is as large as it. */
#define GP_MIN_LARGE_ALLOC (UINT64_C(10) << 20)

/* The rounded size of a request in bytes: the size of its block, unless it gets
 * a larger one. */
uint64_t gp_settings_round(const struct gp_settings *settings, uint64_t size);

/*
 * Whether a free block that is large enough is too large for a request of that
 * rounded size: oversize blocks are reserved for oversize requests that use
 * most of them. PyTorch: get_free_block.
 */
static inline bool gp_settings_is_too_large(const struct gp_settings *settings,
					    uint64_t block, uint64_t rounded)
{
	if (rounded < settings->max_split_size)
		return block >= settings->max_split_size;
	return block - rounded >= settings->max_non_split_rounding;
}

/* The size of the segment that is requested from cudaMalloc for a block of that
 * size. */
uint64_t gp_settings_segment(const struct gp_settings *settings,
			     uint64_t rounded);

/* The size in bytes of the smallest device on which the memory fraction permits
 * so many reserved bytes. */
uint64_t gp_settings_device_for(const struct gp_settings *settings,
				uint64_t reserved);

/*
 * Ranges of settings, both ends inclusive, for which an allocator makes exactly
 * the same decisions: the same addresses and sizes, hence the same reserved and
 * allocated bytes, retries and OOMs. Every combination of values within the
 * ranges is equivalent. Only the statistics about a setting itself differ:
 * oversize_allocations, oversize_segments and max_split_size. All other
 * settings are those of the run.
 */
struct gp_alike {
	uint64_t max_split_least;
	uint64_t max_split_most; /* bytes; GP_UNLIMITED: or not set */
	uint64_t non_split_least, non_split_most; /* max_non_split_rounding */
	uint64_t large_least, large_most;	  /* large_segment_size */
	/* garbage_collection_threshold, within (0, 1); gc_least > gc_most: no
	 * value. gc_off: it may also be unset. */
	double gc_least, gc_most;
	bool gc_off;
};

/* The ranges that contain just these settings, and whether settings lie within
 * ranges. */
struct gp_alike gp_alike_of(const struct gp_settings *settings);
bool gp_alike_holds(const struct gp_alike *alike,
		    const struct gp_settings *settings);

/* ---- PyTorch's releases, and how their allocators differ ---- */

/* A release 2.x is represented by its minor number. A change between releases
 * is a row in src/allocator/release.c: to add a release, raise the last number
 * and add its rows. */
#define GP_RELEASE_FIRST 0
#define GP_RELEASE_LAST	 15

/* Parses "2.11", "2.11.0", "2.11.0+cu128" or "latest" into a minor number (11).
 * GP_USAGE if it is not a release. */
enum gp_status gp_release_parse(const char *text, uint8_t *minor,
				struct gp_diag *diag);

/* A change in PyTorch's behaviour from a release on. */
struct gp_change_row {
	uint8_t since; /* minor release */
	const char *sentence;
	const char *source;
	bool is_wording; /* affects messages only */
};

/* All changes, in no particular order. */
const struct gp_change_row *gp_change_table(size_t *count);

/* Whether setting this memory fraction limits memory: up to 2.9, a fraction of
 * 1 does. */
bool gp_release_limits(uint8_t release, double fraction);

/* Whether two releases make the same decision for every request. */
bool gp_release_alike(uint8_t a, uint8_t b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
