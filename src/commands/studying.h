/* SPDX-License-Identifier: MIT */
/* What commands compute of plans besides their runs: studies, explanations and
 * estimates. */
#ifndef COMMANDS_STUDYING_H
#define COMMANDS_STUDYING_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "gpupool/status.h"
#include "gpupool/study.h"
#include "gpupool/trace.h"
#include "study/metrics/explain.h"
#include "report/report.h"
#include "study/estimate.h"

struct gp_studying {
	struct gp_study study; /* a case a device of the plan's trace */
	struct gp_case *cases;
	struct gp_prices *own_prices; /* from a file; NULL: built in */
	const struct gp_prices *prices;
};

/* Studies the traces of plans together, for one setting, under the first plan's
 * conf and release; each at the capacity that the options ask for, else the
 * plan's, else one concluded from refused requests. */
enum gp_status gp_studying_of(struct gp_studying *studying,
			      const struct gp_plan *plans, size_t count,
			      const struct gp_options *options,
			      struct gp_progress *progress,
			      struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_studying_release(struct gp_studying *studying);

/* GP_USAGE for a --without that names no setting. */
enum gp_status gp_studying_check(const struct gp_options *options,
				 struct gp_diag *diag);

/* What the options ask for besides settings, or else what the verdict concluded
 * of the plan's device, as text for suggested commands: " --capacity 80GiB
 * --torch 2.9", or "". plan NULL: nothing was concluded. */
#define GP_GIVEN_TEXT 128
const char *gp_explaining_given(const struct gp_options *options,
				const struct gp_plan *plan, uint32_t device,
				const struct gp_verdict *verdict,
				char text[GP_GIVEN_TEXT]);

/* The run that the verdict is about: at its capacity, which may be concluded;
 * without a limit if that is unknown. */
struct gp_replay_config gp_explaining_run(const struct gp_plan *plan,
					  uint32_t device,
					  const struct gp_verdict *verdict);

struct gp_explaining {
	struct gp_explain *explains; /* owned; per device */
	size_t count;		     /* made */
	struct gp_studying studying;
	size_t first_case; /* the study's, of the plan's first device */
	char given[GP_GIVEN_TEXT];
};

/* options: which the plan was made from; NULL: it is as recorded. Released in
 * any case. */
enum gp_status gp_explaining_make(struct gp_explaining *explaining,
				  const struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_progress *progress,
				  struct gp_diag *diag);
/* The devices alone: the study and first_case are already set. */
enum gp_status gp_explaining_devices(struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     struct gp_progress *progress,
				     struct gp_diag *diag);
void gp_explaining_release(struct gp_explaining *explaining);

/* As reports take it; borrows from both. is_asked: the plan is what the options
 * ask for. */
struct gp_explanation gp_explaining_of(struct gp_explaining *explaining,
				       const struct gp_plan *plan,
				       const struct gp_options *options,
				       bool is_asked);

/* The release a trace was recorded with, as far as it shows. */
uint8_t gp_estimating_release(const struct gp_trace *recorded);

/* recorded: the plan's trace before what-ifs altered it.  On success *estimates
 * is the caller's, one for each device; NULL where the plan needs none. */
enum gp_status gp_estimating_make(const struct gp_plan *plan,
				  const struct gp_trace *recorded,
				  struct gp_estimate **estimates,
				  struct gp_diag *diag);

#endif
