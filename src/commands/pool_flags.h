/* SPDX-License-Identifier: MIT */
/* --pool-threshold, --pool-reuse and --pool-keep: the memory pool of the engine
 * async. */
#ifndef COMMANDS_POOL_FLAGS_H
#define COMMANDS_POOL_FLAGS_H

#include "commands/options.h"

/* PyTorch's unless given.  GP_USAGE: a flag is not understood. */
enum gp_status gp_pool_flags_parse(const struct gp_options *options,
				   struct gp_pool_settings *settings,
				   struct gp_diag *diag);

#endif
