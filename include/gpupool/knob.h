/* SPDX-License-Identifier: MIT */
/*
 * Settings: PyTorch's names, one row a setting, by release.
 *
 * struct gp_settings is what an allocator is configured with, parsed once at
 * the edge; nothing inside compares strings.  Sources: c10/cuda/
 * CUDAAllocatorConfig.{h,cpp} and c10/core/AllocatorConfig.{h,cpp}, releases
 * 2.0 to 2.15, and what those releases answered when run.
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

/* How its value is checked. */
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
	GP_KNOB_PLAIN, /* nothing to check but the type */
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
	const char *flag; /* ours, without the dashes; NULL: none */
	enum gp_knob_id id;
	enum gp_knob_type type;
	uint16_t member; /* its offset in struct gp_settings, of the first where
			  * it has two; 0: it decides nothing */
	uint8_t since;	 /* first minor release that accepts it */
	const char *range; /* in words */
	const char *by_default;
	const char *sentence; /* what it does */
	/* Which of the two parsers that there are from 2.10 on reads it. */
	enum { GP_KNOB_OF_ALL, GP_KNOB_OF_CUDA } reader;
	const char *alias_of; /* another name for that one; NULL: none */
};

/* All of them, by name. */
const struct gp_knob *gp_knob_table(size_t *count);
const struct gp_knob *gp_knob_by_flag(const char *flag);

#define GP_DIVISIONS                                                           \
	16 /* intervals from 1 MiB (and below) to 32 GiB (and up) */

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
	/* Of pinned host memory, in bytes: requests up to it are rounded up,
	 * blocks up to it are kept; GP_UNLIMITED: all are. */
	uint64_t pinned_round_most, pinned_cached_most;
	uint64_t pinned_reserve;       /* bytes taken at once; 0: none */
	bool pinned_background_thread; /* asks for events all the time */
};

/* Whether both have the same value of it. */
bool gp_knob_is_equal(const struct gp_knob *knob, const struct gp_settings *a,
		      const struct gp_settings *b);

/* PyTorch's defaults in that release. */
void gp_settings_init(struct gp_settings *settings, uint8_t release);

/*
 * PYTORCH_CUDA_ALLOC_CONF, as that release reads it when a program starts;
 * settings->release says which.  GP_INPUT with PyTorch's reason in diag->what;
 * then settings are as they were.
 */
enum gp_status gp_settings_parse(struct gp_settings *settings, const char *conf,
				 struct gp_diag *diag);

/*
 * The same at run time: torch.cuda.memory._set_allocator_settings.  Some
 * settings are reset first, others keep their value unless named.  GP_INPUT as
 * above, but settings are then as PyTorch leaves them: reset, and read up to
 * the mistake.
 */
enum gp_status gp_settings_set(struct gp_settings *settings, const char *conf,
			       struct gp_diag *diag);

/*
 * The settings in what people paste, such as
 *
 *	export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
 *
 * with or without export, the variable's name and quotes: *length bytes within
 * the text, which is returned as it is where there is none of that.
 */
const char *gp_conf_pasted(const char *text, size_t *length);
/* Whether the variable's name is there. */
bool gp_conf_has_name(const char *text);

/* ---- a conf as a text: "name:value,name:[a,b]" ---- */

/* The next of a list: up to a comma outside of brackets, without the blanks
 * around it; *at moves behind it.  NULL: there is none. */
const char *gp_conf_next(const char **at, size_t *length);
/* How many settings it has. */
size_t gp_conf_length(const char *conf);
/* Whether it has that setting. */
bool gp_conf_names(const char *conf, const char *name);
/* Without the setting of that name, and with it when value is not NULL; the
 * caller frees. */
char *gp_conf_with(const char *conf, const char *name, const char *value);

#define GP_MIN_BLOCK_SIZE  512 /* bytes: kMinBlockSize */
/* kMinLargeAlloc: the smallest request whose segment is as large as it. */
#define GP_MIN_LARGE_ALLOC (UINT64_C(10) << 20)

/* The size of the block a request gets, if it is not given a larger one. */
uint64_t gp_settings_round(const struct gp_settings *settings, uint64_t size);

/*
 * Whether a free block, large enough, is too large for a request of that
 * rounded size: an oversize block is for oversize requests that use most of
 * it.  PyTorch: get_free_block.
 */
static inline bool gp_settings_is_too_large(const struct gp_settings *settings,
					    uint64_t block, uint64_t rounded)
{
	if (rounded < settings->max_split_size)
		return block >= settings->max_split_size;
	return block - rounded >= settings->max_non_split_rounding;
}

/* The segment that cudaMalloc is asked for, for a block of that size. */
uint64_t gp_settings_segment(const struct gp_settings *settings,
			     uint64_t rounded);

/*
 * Values of one setting each, both ends inclusive, for which an allocator's
 * every decision is the same: what it does, with addresses and sizes, and so
 * all that is reserved and allocated, retries and OOMs.  They hold together:
 * whatever combination lies within the ranges.  Only what is counted against
 * the setting itself differs: oversize_allocations, oversize_segments and
 * max_split_size.  The settings beside these are as in the run.
 */
struct gp_alike {
	uint64_t max_split_least;
	uint64_t max_split_most; /* bytes; GP_UNLIMITED: not set is, too */
	uint64_t non_split_least, non_split_most; /* max_non_split_rounding */
	uint64_t large_least, large_most;	  /* large_segment_size */
	/* garbage_collection_threshold, of those above 0 and below 1; least
	 * above most: none of them.  And whether off is alike. */
	double gc_least, gc_most;
	bool gc_off;
};

/* Those settings alone. */
struct gp_alike gp_alike_of(const struct gp_settings *settings);
bool gp_alike_holds(const struct gp_alike *alike,
		    const struct gp_settings *settings);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
