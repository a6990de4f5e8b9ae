/* SPDX-License-Identifier: MIT */
/* Requests without memory: was it fragmentation, or is there too little? */
#ifndef METRICS_FAILURE_H
#define METRICS_FAILURE_H

#include "gpupool/explain.h"

/* All that the run kept, in explain; once its trials are over. */
void failures_judge(struct gp_explain *explain);

/* Does it serve a request that the run itself could not, having failed nothing
 * before that the run served? */
bool attempt_serves(const struct gp_attempt *attempt,
		    const struct gp_attempt *base, uint64_t event);

#endif
