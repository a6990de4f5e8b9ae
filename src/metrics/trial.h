/* What is tried: other settings and what-ifs, each by a replay. */
#ifndef METRICS_TRIAL_H
#define METRICS_TRIAL_H

#include "gpupool/explain.h"

/* All that its release knows and that would change something, in explain. */
enum gp_status trials_run(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag);

#endif
