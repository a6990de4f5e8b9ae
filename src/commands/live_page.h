/* SPDX-License-Identifier: MIT */
/* The parts that replay in a page: gpupool.wasm, if it was built, the traces as
 * they were read, and the flags that were given. */
#ifndef COMMANDS_LIVE_PAGE_H
#define COMMANDS_LIVE_PAGE_H

#include "commands/options.h"
#include "commands/plan.h"
#include "report/html.h"
#include "trace/ranks.h"

struct gp_live_parts {
	struct gp_live_page page;
	char *wasm;		     /* owned */
	struct gp_live_part *traces; /* owned, and their bytes */
	struct gp_live_flag *flags;  /* owned */
	char release[16], capacity[32];
};

/* ranks NULL: no traces. asked NULL: the page begins with the run as recorded;
 * otherwise the plan must outlive parts. To be released in any case. */
enum gp_status gp_live_parts_make(struct gp_live_parts *parts,
				  const struct gp_options *options,
				  const struct gp_ranks *ranks,
				  const struct gp_plan *asked,
				  struct gp_diag *diag);
void gp_live_parts_release(struct gp_live_parts *parts);

#endif
