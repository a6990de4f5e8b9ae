/* SPDX-License-Identifier: MIT */
/* What commands compute for plans besides their runs: studies, explanations and
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
	struct gp_study study; /* one case per device of the plan's trace */
	struct gp_case *cases;
	struct gp_prices *own_prices; /* from a file; NULL: built in */
	const struct gp_prices *prices;
};

/* Studies the traces of plans together, for one setting, under the conf and
 * release of the first plan; each at the capacity that the options ask for,
 * else at the plan's, else at one inferred from refused requests. */
enum gp_status gp_studying_of(struct gp_studying *studying,
			      const struct gp_plan *plans, size_t count,
			      const struct gp_options *options,
			      struct gp_progress *progress,
			      struct gp_diag *diag);
/* Accepts a zeroed struct. */
void gp_studying_release(struct gp_studying *studying);

/* GP_USAGE: --without names something that is not a setting. */
enum gp_status gp_studying_check(const struct gp_options *options,
				 struct gp_diag *diag);

/* The options besides settings, or else what the verdict inferred about the
 * plan's device, as text for suggested commands: " --capacity 80GiB --torch
 * 2.9", or "". plan NULL: nothing was inferred. */
#define GP_GIVEN_TEXT 128
const char *gp_explaining_given(const struct gp_options *options,
				const struct gp_plan *plan, uint32_t device,
				const struct gp_verdict *verdict,
				char text[GP_GIVEN_TEXT]);

/* The run that the verdict is about: at its capacity, which may be inferred;
 * without a limit if that is unknown. */
struct gp_replay_config gp_explaining_run(const struct gp_plan *plan,
					  uint32_t device,
					  const struct gp_verdict *verdict);

struct gp_explaining {
	struct gp_explain *explains; /* owned; per device */
	size_t count;		     /* made */
	struct gp_studying studying;
	size_t first_case; /* index in the study of the plan's first device */
	char given[GP_GIVEN_TEXT];
};

/* options: from which the plan was made; NULL: as recorded. To be released in
 * any case. */
enum gp_status gp_explaining_make(struct gp_explaining *explaining,
				  const struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_progress *progress,
				  struct gp_diag *diag);
/* Only the devices: the study and first_case are set already. */
enum gp_status gp_explaining_devices(struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     struct gp_progress *progress,
				     struct gp_diag *diag);
void gp_explaining_release(struct gp_explaining *explaining);

/* In the form that reports take; borrows from both. is_asked: the plan is what
 * the options ask for. */
struct gp_explanation gp_explaining_of(struct gp_explaining *explaining,
				       const struct gp_plan *plan,
				       const struct gp_options *options,
				       bool is_asked);

/* The release with which a trace was recorded, as far as it shows. */
uint8_t gp_estimating_release(const struct gp_trace *recorded);

/* recorded: the plan's trace before what-ifs altered it. On success the caller
 * owns *estimates, one for each device; NULL if the plan needs none. */
enum gp_status gp_estimating_make(const struct gp_plan *plan,
				  const struct gp_trace *recorded,
				  struct gp_estimate **estimates,
				  struct gp_diag *diag);

#endif
