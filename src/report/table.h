/* SPDX-License-Identifier: MIT */
/* Memory of a state by size class, stream and pool, as a table. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "gpupool/trace.h"
#include "report/page.h"

/* With a total; streams and pools only where there are several. */
void gp_table_print(const struct gp_page *page, const struct gp_trace *trace,
		    const struct gp_state *state, const char *title);

#endif
