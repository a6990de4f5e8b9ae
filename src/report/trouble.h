/* SPDX-License-Identifier: MIT */
/*
 * What went wrong in a run, explained: the first mismatch of a verification,
 * and the first request that failed for lack of memory.
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

/* Each prints nothing if there is nothing to report; device is an index. */
void gp_trouble_mismatch(const struct gp_page *page,
			 const struct gp_trace *trace, uint32_t device,
			 const struct gp_mismatch *mismatch);
void gp_trouble_oom(const struct gp_page *page, const struct gp_trace *trace,
		    uint32_t device, const struct gp_oom *oom);
/* " in its stream and pool" if a block elsewhere may be larger; else "". */
const char *gp_trouble_which(const struct gp_oom *oom);
/* "largest 950 MiB": the largest free block in the request's stream and pool,
 * or that there is none. */
#define GP_TROUBLE_LARGEST 64
const char *gp_trouble_largest(const struct gp_oom *oom,
			       char text[GP_TROUBLE_LARGEST]);

/* "60.00 MiB left on the device"; gp_trouble_where: "on the device" alone. */
#define GP_TROUBLE_LEFT 120
const char *gp_trouble_left(const struct gp_oom *oom,
			    char text[GP_TROUBLE_LEFT]);
const char *gp_trouble_where(const struct gp_oom *oom);
/* A sentence without its full stop. */
#define GP_TROUBLE_OTHERS (GP_EVENT_TEXT + 120)
const char *gp_trouble_others(const struct gp_trace *trace, uint32_t device,
			      const struct gp_no_room *others,
			      char text[GP_TROUBLE_OTHERS]);
void gp_trouble_no_room(const struct gp_page *page,
			const struct gp_trace *trace, uint32_t device,
			const struct gp_no_room *others);
void gp_trouble_refusal(const struct gp_page *page,
			const struct gp_trace *trace, uint32_t device,
			const struct gp_replay_result *result);

/* The text of PyTorch's OutOfMemoryError, byte for byte as in that release. */
#define GP_OOM_MESSAGE 1024
const char *gp_oom_message(const struct gp_oom *oom,
			   char message[GP_OOM_MESSAGE]);

#endif
