/* SPDX-License-Identifier: MIT */
/* The requests between marks, compared between two programs. */
#ifndef STUDY_METRICS_STEPS_H
#define STUDY_METRICS_STEPS_H

#include "study/metrics/change.h"

struct gp_divergence_steps steps_compare(
	const struct gp_trace *a, const struct gp_device_trace *a_device,
	const struct gp_trace *b, const struct gp_device_trace *b_device);

#endif
