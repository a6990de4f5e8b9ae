/* SPDX-License-Identifier: MIT */
/* Attempts: remedies other than settings, each tried by a replay. */
#ifndef STUDY_METRICS_ATTEMPT_H
#define STUDY_METRICS_ATTEMPT_H

#include "study/metrics/explain.h"

/* Fills in base and attempts of explain, whose moment has been examined. */
enum gp_status attempts_run(const struct gp_explain_config *config,
			    struct gp_explain *explain, struct gp_diag *diag);

#endif
