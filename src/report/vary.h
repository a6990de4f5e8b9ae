/* SPDX-License-Identifier: MIT */
/* gpupool fit --vary: up to which value of something a program fits. */
#ifndef REPORT_VARY_H
#define REPORT_VARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "device/gpu.h"
#include "report/report.h"

struct gp_vary_point {
	uint64_t value;
	uint64_t need; /* bytes of the device, in all; 0: not known */
	bool fits;
	const char *failure; /* of the program, which tells nothing of its
			      * memory; NULL: none */
	const char *path; /* that the program took; NULL: as it was recorded */
};

struct gp_vary_report {
	const char *program, *name; /* of what varies */
	uint64_t first, last;
	const struct gp_gpu *gpu;
	const struct gp_vary_point *points; /* by value */
	size_t count;
};

/* The largest value that fits and none below it that was tried does not; NULL:
 * the first does not. */
const struct gp_vary_point *gp_vary_largest(const struct gp_vary_report *r);
/* The least value with which the program failed; NULL: none. */
const struct gp_vary_point *gp_vary_failed(const struct gp_vary_report *r);
void gp_report_vary_text(const struct gp_vary_report *report,
			 const struct gp_report_style *style, FILE *out);
void gp_report_vary_json(const struct gp_vary_report *report, FILE *out);
/* A page with a drawing. */
void gp_report_vary_html(const struct gp_vary_report *report, FILE *out);

#endif
