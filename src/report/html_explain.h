/* SPDX-License-Identifier: MIT */
/* What gpupool explain finds, on a page: words and tables. */
#ifndef REPORT_HTML_EXPLAIN_H
#define REPORT_HTML_EXPLAIN_H

#include "report/report.h"

/* Fragmentation or capacity, and what to do. */
void gp_html_verdict(const struct gp_explanation *explanation, size_t device,
		     FILE *out);

/* What was tried, the parts of the gap and what holds it; name stands before
 * each title: "", or "A: " where there are two runs. */
void gp_html_explain(const struct gp_explanation *explanation, size_t device,
		     const char *name, FILE *out);

#endif
