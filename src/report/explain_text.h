/* SPDX-License-Identifier: MIT */
/* What the pages of gpupool explain share. */
#ifndef REPORT_EXPLAIN_TEXT_H
#define REPORT_EXPLAIN_TEXT_H

#include "report/explain_words.h"
#include "report/page.h"

struct explain_page {
	struct gp_page page;
	const struct gp_explanation *explanation;
	const struct gp_explain *explain;
	const struct gp_verdict *verdict; /* of its device */
};

/* src/report/explain_detail.c */
void explain_details(const struct explain_page *p);

#endif
