/* SPDX-License-Identifier: MIT */
/* Requests without memory: whether what is live leaves room for them at all. */
#ifndef STUDY_METRICS_FAILURE_H
#define STUDY_METRICS_FAILURE_H

#include "study/metrics/explain.h"

/* All that the run kept, in explain. */
void failures_judge(struct gp_explain *explain);

#endif
