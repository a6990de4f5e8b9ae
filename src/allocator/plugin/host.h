/* SPDX-License-Identifier: MIT */
/*
 * Allocators of host programs (glibc, jemalloc, tcmalloc, mimalloc), in a
 * process that uses one of them: requests are malloc and free there, and
 * reserved memory is what the allocator says it obtained from the system. The
 * memory is not written to, so it costs address space only.
 */
#ifndef ALLOCATOR_PLUGIN_HOST_H
#define ALLOCATOR_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/engine.h"

/* ---- in that process: host.c ---- */

/* The argument of the process is one of these marks followed by a name, in
 * place of the path of a library. HOST_TOUCHED: blocks are written to, and
 * reserved memory is what the system reports as resident. */
#define HOST_MARK    '='
#define HOST_TOUCHED '+'

static inline bool host_is_named(const char *library)
{
	return *library == HOST_MARK || *library == HOST_TOUCHED;
}

extern const struct gp_engine_table host_table;

/* False: the allocator named after the mark is not loaded. */
bool host_begin(const char *marked);
/* The bytes that the allocator obtained from the system, including a few KiB of
 * the process itself. */
uint64_t host_held(void);

/* ---- in ours: host_settings.c ---- */

struct gp_engine;

/* HOST_MARK or HOST_TOUCHED. */
char host_mark(const struct gp_engine *engine);
/* The library to preload before the C library; NULL: none. */
const char *host_library(const struct gp_engine *engine);
/* The environment variables of the process; freed by
 * host_free_environment(). */
char **host_environment(const struct gp_engine *engine);
void host_free_environment(char **environment);

#endif
