/* SPDX-License-Identifier: MIT */
/* Who holds what changed of the live set, as tables. */
#ifndef REPORT_CHANGE_SHARES_H
#define REPORT_CHANGE_SHARES_H

#include "report/change_report.h"
#include "report/page.h"

/* Nothing where there are none. */
void gp_change_print_sites(const struct gp_page *page,
			   const struct gp_change *change);
void gp_change_print_sizes(const struct gp_page *page,
			   const struct gp_change *change);

#endif
