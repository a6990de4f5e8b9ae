/* SPDX-License-Identifier: MIT */
/* What --engine names: an engine that comes along, with settings or
 * without, or a library. */
#ifndef COMMANDS_ENGINE_NAMED_H
#define COMMANDS_ENGINE_NAMED_H

#include "gpupool/allocator.h"

/* One with settings, or out of a library, is *opened, too, and the caller's to
 * close; else *opened stays as it is.  GP_USAGE: there is none of that name. */
enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag);

#endif
