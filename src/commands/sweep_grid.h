/* SPDX-License-Identifier: MIT */
/* Makes the grid of a sweep from its options. */
#ifndef COMMANDS_SWEEP_GRID_H
#define COMMANDS_SWEEP_GRID_H

#include "commands/options.h"
#include "study/sweep/grid.h"

/* What the traces determine. */
struct gp_sweep_base {
	const char *conf; /* recorded, and so is the release */
	uint8_t release;
	struct gp_trace *const *traces;
	size_t trace_count;
};
enum gp_status gp_sweep_grid(const struct gp_options *options,
			     const struct gp_sweep_base *base,
			     struct gp_grid *grid, struct gp_diag *diag);

/* The same for headroom. The flags of settings are added to each combination.
 * Its capacity is what is searched for, and it has a single engine. */
enum gp_status gp_headroom_grid(const struct gp_options *options,
				const char *base, uint8_t release,
				struct gp_grid *grid, struct gp_diag *diag);

/* The same for compare, for the engines of a list; PyTorch's settings start
 * from its defaults. */
enum gp_status gp_compare_grid(const struct gp_options *options,
			       const char *engines, struct gp_grid *grid,
			       struct gp_diag *diag);

/* --shard I/N, counted from 1; 1 of 1 if not given. */
struct gp_shard {
	size_t index, count;
};
enum gp_status gp_sweep_shard(const struct gp_options *options,
			      struct gp_shard *shard, struct gp_diag *diag);

#endif
