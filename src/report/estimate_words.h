/* SPDX-License-Identifier: MIT */
/* Estimates in reports. */
#ifndef REPORT_ESTIMATE_WORDS_H
#define REPORT_ESTIMATE_WORDS_H

#include <stddef.h>

#include "base/bytes.h"
#include "study/estimate.h"
#include "report/report.h"

/* NULL where the run's own numbers are the answer. */
const struct gp_estimate *gp_run_estimate(const struct gp_run *run,
					  size_t device);

/* "an estimate: 8.12 GiB to 9.30 GiB" */
#define GP_ESTIMATE_TEXT (2 * GP_BYTES_TEXT + 24)
const char *gp_estimate_text(const struct gp_estimate *estimate,
			     char text[GP_ESTIMATE_TEXT]);

#endif
