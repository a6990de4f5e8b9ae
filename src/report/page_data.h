/* SPDX-License-Identifier: MIT */
/* What a page's script reads. */
#ifndef REPORT_PAGE_DATA_H
#define REPORT_PAGE_DATA_H

#include <stdio.h>

#include "report/report.h"

/* JSON that may stand in a script element. */
void gp_page_data(const struct gp_report *report, FILE *out);

#endif
