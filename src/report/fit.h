/* SPDX-License-Identifier: MIT */
/* gpupool fit: whether a recorded program fits a device. */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include <stdio.h>

#include "device/gpu.h"
#include "study/metrics/explain.h"
#include "report/report.h"

struct gp_fit_report {
	const char *program; /* its file's name */
	int exit;	     /* as the shell has it; not 0: what is told is of
			      * what it did until then */
	bool runs_on;	     /* it left a process running, which may have used
			      * no device yet */
	const char *path;    /* that it took; NULL: as it was recorded */
	const char *kept;    /* the trace; NULL: it is not kept */
	const struct gp_gpu *gpu;
	struct gp_non_pytorch besides; /* its high is not PyTorch's to use */
	uint64_t others; /* of that, what the trace tells of, and so the verdict
			  * counts; 0: it does not */
	const struct gp_ranks *ranks; /* NULL: one process is all */
	uint32_t sharers; /* processes that use one device, each judged as if
			   * it were its own; 0: none does */
	uint32_t shared;  /* that device: CUDA's ordinal */
	const struct gp_trace *trace; /* the worst */
	const struct gp_study *study; /* a case a device */
	size_t worst;
	uint32_t device; /* its index */
	const struct gp_explain *explain;
};

/* Bytes of a device that it needs in all, as it is; 0: not known, or none is
 * large enough. */
uint64_t gp_fit_needs(const struct gp_fit_report *report);
/* Whether all of it fits, as it is. */
bool gp_fit_is(const struct gp_fit_report *report);
/* Whether that is not known, as processes share a device, or nothing used one
 * and a process goes on. */
bool gp_fit_is_open(const struct gp_fit_report *report);
void gp_report_fit_text(const struct gp_fit_report *report,
			const struct gp_report_style *style, FILE *out);
void gp_report_fit_json(const struct gp_fit_report *report, FILE *out);

#endif
