/* SPDX-License-Identifier: MIT */
/* Requests that found no memory: whether live memory leaves room for them at
 * all. */
#ifndef STUDY_METRICS_FAILURE_H
#define STUDY_METRICS_FAILURE_H

#include "study/metrics/explain.h"

/* Judges all OOMs that the run kept, and stores the results in explain. */
void failures_judge(struct gp_explain *explain);

#endif
