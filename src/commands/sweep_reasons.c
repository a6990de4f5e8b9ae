/* SPDX-License-Identifier: MIT */
/* Combinations that are not run. */
#include "commands/sweep_reasons.h"

#include <string.h>

#include "base/mem.h"
#include "commands/torch_lib.h"
#include "gpupool/replay.h"

char **gp_sweep_engines(struct gp_grid *grid, const char *torch_lib)
{
	char **libs = gp_mem_alloc(grid->count, sizeof(*libs));

	for (size_t i = 0; i < grid->count; i++) {
		struct gp_combination *c = &grid->items[i];
		struct gp_diag reason = { 0 };
		enum gp_status status;

		if (c->reason || strcmp(c->engine->name, "torch") != 0)
			continue;
		if (torch_lib)
			status = gp_torch_lib_prepare(torch_lib, &libs[i],
						      &reason);
		else
			status = gp_torch_lib_find(c->settings.release,
						   &libs[i], &reason);
		if (status != GP_OK)
			c->reason = gp_mem_copy_text(reason.what,
						     strlen(reason.what));
	}
	return libs;
}

static void ask(struct gp_combination *c, const struct gp_trace *trace)
{
	struct gp_diag why = { 0 };

	if (c->reason || !c->capacity ||
	    gp_replay_decides(trace, c->capacity, &why) == GP_OK)
		return;
	c->reason = gp_mem_copy_text(why.what, strlen(why.what));
	c->is_undecided = true;
}

void gp_sweep_undecided(struct gp_grid *grid, struct gp_trace *const *traces,
			size_t count)
{
	for (size_t i = 0; i < grid->count; i++)
		for (size_t t = 0; t < count; t++)
			ask(&grid->items[i], traces[t]);
}
