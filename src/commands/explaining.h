/* SPDX-License-Identifier: MIT */
/* Explaining a plan: each of its devices. */
#ifndef COMMANDS_EXPLAINING_H
#define COMMANDS_EXPLAINING_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/studying.h"
#include "metrics/explain.h"
#include "report/report.h"

/* What the options ask for besides settings, for other commands:
 * " --capacity 80GiB --torch 2.9", or "". */
#define GP_GIVEN_TEXT 128
const char *gp_explaining_given(const struct gp_options *options,
				char text[GP_GIVEN_TEXT]);

struct gp_explaining {
	struct gp_explain *explains; /* owned; per device */
	size_t count;		     /* made */
	struct gp_studying studying;
	char given[GP_GIVEN_TEXT];
};

/* options: where the plan is what they ask for; NULL: it is as recorded.
 * Released in any case. */
enum gp_status gp_explaining_make(struct gp_explaining *explaining,
				  const struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_progress *progress,
				  struct gp_diag *diag);
/* The devices alone: the study is the caller's to make. */
enum gp_status gp_explaining_devices(struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     struct gp_progress *progress,
				     struct gp_diag *diag);
void gp_explaining_release(struct gp_explaining *explaining);

/* As reports take it, borrowing all of it and the plan's; is_asked: the plan is
 * what the options ask for. */
struct gp_explanation gp_explaining_of(struct gp_explaining *explaining,
				       const struct gp_plan *plan,
				       const struct gp_options *options,
				       bool is_asked);

#endif
