/* SPDX-License-Identifier: MIT */
/* The constructors behind the registry in engines.c, and what engines share. */
#ifndef ALLOCATOR_ENGINES_H
#define ALLOCATOR_ENGINES_H

#include "gpupool/allocator.h"

struct gp_allocator *gp_caching_create(
	const struct gp_allocator_config *config);

struct gp_allocator *gp_direct_create(const struct gp_allocator_config *config);

/* GP_SYSTEM: the device does not support cudaMallocAsync. */
enum gp_status gp_async_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag);
enum gp_status gp_managed_create(const struct gp_allocator_config *config,
				 struct gp_allocator **allocator,
				 struct gp_diag *diag);

/* Pinned host memory. GP_SYSTEM: the blocks of the start state do not fit. */
enum gp_status gp_pinned_create(const struct gp_allocator_config *config,
				struct gp_allocator **allocator,
				struct gp_diag *diag);

/* PyTorch's own allocator, in a child process. GP_USAGE: the engine is missing,
 * or is of another release; GP_INPUT: PyTorch rejects the settings. */
enum gp_status gp_torch_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag);

/* A host allocator, in a child process. GP_SYSTEM: it is not installed. */
enum gp_status gp_host_create(const struct gp_allocator_config *config,
			      struct gp_allocator **allocator,
			      struct gp_diag *diag);
extern const struct gp_engine_setting host_glibc_settings[],
	host_jemalloc_settings[], host_tcmalloc_settings[],
	host_mimalloc_settings[];

/* A built-in engine; NULL: there is none of that name. */
const struct gp_engine *engine_find(const char *name, size_t length);

/* ---- settings of an engine's own: engine_text.c ---- */

/* Whether the engine has that name, ignoring settings in the name. */
bool engine_is_named(const struct gp_engine *engine, const char *name);

/* The value of an engine's setting: the one that was given, or its default. */
const char *engine_setting(const struct gp_engine *engine, const char *name);

enum gp_status engine_open_library(const struct gp_engine_library *library,
				   struct gp_engine **engine,
				   struct gp_diag *diag);

/* Adds to a counter that only grows, such as the bytes allocated so far;
 * saturates at the largest number. */
static inline void stat_grow(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

/* setMemoryFraction of c10/cuda/CUDACachingAllocator.cpp: the fractions that it
 * rejects (including NaN), and the message. */
#define ENGINE_NO_FRACTION "invalid fraction. Please set within [0, 1]."

static inline bool engine_is_fraction(double fraction)
{
	return fraction >= 0 && fraction <= 1;
}

/* ---- statistics of engines that do not distinguish pools, in GP_STAT_ALL
 * ---- */

/* Changes the current value, up or down. */
void gp_stat_change(struct gp_stat *stat, int64_t amount);
void gp_stats_reset_peak(struct gp_stats *stats);
void gp_stats_reset_accumulated(struct gp_stats *stats);

#endif
