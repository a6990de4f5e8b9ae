/* SPDX-License-Identifier: MIT */
/*
 * Allocators of host programs (glibc, jemalloc, tcmalloc, mimalloc), in a
 * process that has one of them in place of its own: requests are malloc and
 * free there, and what they hold is what the allocator says it took from the
 * system.  Nothing is written to the memory, so it costs addresses alone.
 */
#ifndef ALLOCATOR_PLUGIN_HOST_H
#define ALLOCATOR_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/engine.h"

/* ---- in that process: host.c ---- */

/* The argument of the process is one of these and a name, in place of a
 * library; HOST_TOUCHED: blocks are written to, and what is held is what the
 * system says is in memory. */
#define HOST_MARK    '='
#define HOST_TOUCHED '+'

static inline bool host_is_named(const char *library)
{
	return *library == HOST_MARK || *library == HOST_TOUCHED;
}

extern const struct gp_engine_table host_table;

/* False: no allocator of that name, behind its mark, is loaded. */
bool host_begin(const char *marked);
/* Bytes it took from the system, the process's own few KiB among them. */
uint64_t host_held(void);

/* ---- in ours: host_settings.c ---- */

struct gp_engine;

/* HOST_MARK or HOST_TOUCHED. */
char host_mark(const struct gp_engine *engine);
/* What has to be loaded in front of the C library; NULL: nothing. */
const char *host_library(const struct gp_engine *engine);
/* The variables of the process's environment, for host_free_environment. */
char **host_environment(const struct gp_engine *engine);
void host_free_environment(char **environment);

#endif
