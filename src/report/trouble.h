/* SPDX-License-Identifier: MIT */
/*
 * What went wrong in a run, explained: the first mismatch of a verification
 * and the first request that memory was not enough for.
 */
#ifndef REPORT_TROUBLE_H
#define REPORT_TROUBLE_H

#include "gpupool/replay.h"
#include "gpupool/trace.h"
#include "report/page.h"

struct gp_mismatch_row {
	const char *key, *sentence;
};

/* By the kind of struct gp_mismatch. */
extern const struct gp_mismatch_row gp_mismatch_rows[];

/* They print nothing when there is none; device is an index. */
void gp_trouble_mismatch(const struct gp_page *page,
			 const struct gp_trace *trace, uint32_t device,
			 const struct gp_mismatch *mismatch);
void gp_trouble_oom(const struct gp_page *page, const struct gp_trace *trace,
		    uint32_t device, const struct gp_oom *oom);
/* "60.00 MiB left on the device" */
#define GP_TROUBLE_LEFT 80
const char *gp_trouble_left(const struct gp_oom *oom,
			    char text[GP_TROUBLE_LEFT]);
void gp_trouble_refusal(const struct gp_page *page,
			const struct gp_trace *trace, uint32_t device,
			const struct gp_replay_result *result);

#endif
