/* SPDX-License-Identifier: MIT */
/* A study of a plan: for every command that judges. */
#ifndef COMMANDS_STUDYING_H
#define COMMANDS_STUDYING_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "gpupool/study.h"

struct gp_studying {
	struct gp_study study; /* a case a device of the plan's trace */
	struct gp_case *cases;
	struct gp_prices *own_prices; /* from a file; NULL: built in */
	const struct gp_prices *prices;
	/* The first device's memory is concluded to be its capacity or more,
	 * and less than this; 0: it is known, or nothing tells. */
	uint64_t capacity_below;
};

/* Studies the plan's trace under its release, at the capacity that the options
 * ask for, else the plan's, else what requests tell that were refused. */
enum gp_status gp_studying_make(struct gp_studying *studying,
				const struct gp_plan *plan,
				const struct gp_options *options,
				struct gp_progress *progress,
				struct gp_diag *diag);
/* The same of several plans of traces, which one setting is to serve; conf and
 * release are the first plan's. */
enum gp_status gp_studying_of(struct gp_studying *studying,
			      const struct gp_plan *plans, size_t count,
			      const struct gp_options *options,
			      struct gp_progress *progress,
			      struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_studying_release(struct gp_studying *studying);

/* GP_USAGE for a --without that names no setting. */
enum gp_status gp_studying_check(const char *command,
				 const struct gp_options *options,
				 struct gp_diag *diag);

#endif
