/* SPDX-License-Identifier: MIT */
/* What --engine names: an engine that comes along, or a library. */
#ifndef COMMANDS_ENGINE_NAMED_H
#define COMMANDS_ENGINE_NAMED_H

#include <stdbool.h>

#include "gpupool/allocator.h"

/* Whether the name is a file's: it has a slash, or ends as libraries do. */
bool gp_engine_is_file(const char *name);

/* One that is out of a library is *opened, too, and the caller's to close; else
 * *opened stays as it is.  GP_USAGE: there is none of that name. */
enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag);

#endif
