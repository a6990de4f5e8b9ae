/* SPDX-License-Identifier: MIT */
/* What --engine names: an engine that comes along, with settings or
 * without, or a library. */
#ifndef COMMANDS_ENGINE_NAMED_H
#define COMMANDS_ENGINE_NAMED_H

#include <limits.h>

#include "gpupool/allocator.h"

/* One with settings, or out of a library, is *opened, too, and the caller's to
 * close; else *opened stays as it is.  GP_USAGE: there is none of that name. */
enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag);

/* How engines are opened that are this program again, but for their path; the
 * path of the program is written to program. */
struct gp_engine_library gp_engine_here(char program[PATH_MAX]);

/* The list of names with those in place of "all" that need neither a GPU nor
 * anything installed, and of "host" the allocators of host programs.  The
 * caller frees it.  has_all: whether "all" is among them; NULL: nobody asks. */
char *gp_engine_names(const char *list, bool *has_all);

#endif
