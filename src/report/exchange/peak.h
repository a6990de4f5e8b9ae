/* SPDX-License-Identifier: MIT */
/* Memory at the peak of reserved, by the stack that allocated it. */
#ifndef REPORT_EXCHANGE_PEAK_H
#define REPORT_EXCHANGE_PEAK_H

#include "gpupool/replay.h"
#include "gpupool/trace.h"

/* Bytes of blocks, as rounded. */
struct peak {
	uint64_t *allocated, *waiting; /* by site; the last is of no site */
	uint64_t not_allocated;	       /* reserved, and neither of both */
};

/* Two leaves and a stack that are no frames. */
#define PEAK_WAITING	   "(freed, waiting for a stream)"
#define PEAK_NOT_ALLOCATED "(reserved, not allocated)"
#define PEAK_NO_STACK	   "(no stack)"

void peak_init(struct peak *peak, const struct gp_trace *trace, uint32_t device,
	       const struct gp_replay_result *result);
void peak_release(struct peak *peak);

#endif
