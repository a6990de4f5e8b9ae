/* SPDX-License-Identifier: MIT */
/* Two runs of one trace, side by side. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/report.h"
#include "report/page.h"

/* report->run_count is 2. */
void gp_compare_print(const struct gp_page *page,
		      const struct gp_report *report);

#endif
