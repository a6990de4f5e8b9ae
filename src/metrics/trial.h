/* SPDX-License-Identifier: MIT */
/* What is tried: other settings and what-ifs, each by a replay. */
#ifndef METRICS_TRIAL_H
#define METRICS_TRIAL_H

#include "gpupool/explain.h"

/* All that its release knows and that would change something, in explain. */
enum gp_status trials_run(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag);

#define TRIAL_CULPRITS 2 /* that are dropped, to see what that would save */

/* src/metrics/trial_what_if.c */
enum gp_status trials_of_what_ifs(const struct gp_explain_config *config,
				  struct gp_explain *explain,
				  struct gp_diag *diag);

/* One more, and its replay. */
struct gp_attempt *trial_add(struct gp_explain *explain, const char *name);
enum gp_status trial_play(const struct gp_explain_config *config,
			  const struct gp_trace *trace,
			  const struct gp_settings *with,
			  struct gp_explain *explain, struct gp_attempt *trial,
			  struct gp_diag *diag);

#endif
