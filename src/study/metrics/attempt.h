/* SPDX-License-Identifier: MIT */
/* What is tried that is no setting. */
#ifndef STUDY_METRICS_ATTEMPT_H
#define STUDY_METRICS_ATTEMPT_H

#include "study/metrics/explain.h"

/* base and attempts of explain, whose moment was looked at. */
enum gp_status attempts_run(const struct gp_explain_config *config,
			    struct gp_explain *explain, struct gp_diag *diag);

#endif
