/* SPDX-License-Identifier: MIT */
/* Which combinations of a grid are not run, and why. */
#ifndef COMMANDS_SWEEP_REASONS_H
#define COMMANDS_SWEEP_REASONS_H

#include "study/sweep/sweep.h"

/* PyTorch's own allocator must be there for the release.  Returns its folder by
 * combination, NULL for other engines; the caller frees each, and the list. */
char **gp_sweep_engines(struct gp_grid *grid, const char *torch_lib);

/* A window may begin with more than a combination has. */
void gp_sweep_undecided(struct gp_grid *grid, struct gp_trace *const *traces,
			size_t count);

#endif
