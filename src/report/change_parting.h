/* SPDX-License-Identifier: MIT */
/* Where two programs part, in sentences. */
#ifndef REPORT_CHANGE_PARTING_H
#define REPORT_CHANGE_PARTING_H

#include "report/change_report.h"
#include "report/page.h"

void gp_change_print_parting(const struct gp_page *page,
			     const struct gp_change *change);

#endif
