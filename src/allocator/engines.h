/* SPDX-License-Identifier: MIT */
/* The constructors behind the registry in engines.c, and what engines share. */
#ifndef ALLOCATOR_ENGINES_H
#define ALLOCATOR_ENGINES_H

#include "gpupool/allocator.h"

struct gp_allocator *gp_caching_create(
	const struct gp_allocator_config *config);

struct gp_allocator *gp_direct_create(const struct gp_allocator_config *config);

/* GP_SYSTEM: the device has no such memory. */
enum gp_status gp_async_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag);
enum gp_status gp_managed_create(const struct gp_allocator_config *config,
				 struct gp_allocator **allocator,
				 struct gp_diag *diag);

/* Pinned host memory.  GP_SYSTEM: what is there at the start does not fit. */
enum gp_status gp_pinned_create(const struct gp_allocator_config *config,
				struct gp_allocator **allocator,
				struct gp_diag *diag);

/* PyTorch's own, in a process beside this one.  GP_USAGE: no engine, or not of
 * that release; GP_INPUT: PyTorch refuses the settings. */
enum gp_status gp_torch_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag);

/* A host allocator, in a process beside this one.  GP_SYSTEM: it is not there.
 */
enum gp_status gp_host_create(const struct gp_allocator_config *config,
			      struct gp_allocator **allocator,
			      struct gp_diag *diag);
extern const struct gp_engine_setting host_glibc_settings[],
	host_jemalloc_settings[], host_tcmalloc_settings[],
	host_mimalloc_settings[];

/* Of those that come along; NULL: there is none of that name. */
const struct gp_engine *engine_find(const char *name, size_t length);

/* ---- settings of an engine's own: engine_text.c ---- */

/* Whether it has that name, up to its settings. */
bool engine_is_named(const struct gp_engine *engine, const char *name);

/* One of its rows, by name: what it was set to, or its default. */
const char *engine_setting(const struct gp_engine *engine, const char *name);

enum gp_status engine_open_library(const struct gp_engine_library *library,
				   struct gp_engine **engine,
				   struct gp_diag *diag);

/* A counter that only grows, such as bytes allocated so far: it stops at the
 * largest number. */
static inline void stat_grow(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

/* c10/cuda/CUDACachingAllocator.cpp, setMemoryFraction: what it refuses (a NaN,
 * too), and with which words. */
#define ENGINE_NO_FRACTION "invalid fraction. Please set within [0, 1]."

static inline bool engine_is_fraction(double fraction)
{
	return fraction >= 0 && fraction <= 1;
}

/* ---- statistics of engines that do not tell pools apart: in GP_STAT_ALL ----
 */

/* By so much more or less in use. */
void gp_stat_change(struct gp_stat *stat, int64_t amount);
void gp_stats_reset_peak(struct gp_stats *stats);
void gp_stats_reset_accumulated(struct gp_stats *stats);

#endif
