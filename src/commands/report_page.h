/* SPDX-License-Identifier: MIT */
/* man/gpupool-report.5, from the table of keys. */
#ifndef COMMANDS_REPORT_PAGE_H
#define COMMANDS_REPORT_PAGE_H

#include <stdio.h>

void gp_report_page(FILE *out);

#endif
