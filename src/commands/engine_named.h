/* SPDX-License-Identifier: MIT */
/* The engine that --engine names: a built-in one, with or without settings, or
 * a library. */
#ifndef COMMANDS_ENGINE_NAMED_H
#define COMMANDS_ENGINE_NAMED_H

#include <limits.h>

#include "gpupool/allocator.h"

/* An engine with settings or from a library is also stored in *opened, for the
 * caller to close; else *opened is unchanged. GP_USAGE: there is none of that
 * name. */
enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag);

/* How to open engines that run in a process of this program; the engine's path
 * is not set. Writes the program's path to program. */
struct gp_engine_library gp_engine_here(char program[PATH_MAX]);

/* The list with "all" replaced by the engines that need neither a GPU nor an
 * installation, and "host" by the allocators of host programs. The caller frees
 * it. has_all: whether "all" is in the list; may be NULL. */
char *gp_engine_names(const char *list, bool *has_all);

#endif
