/* SPDX-License-Identifier: MIT */
/* Objects that replay's report and a sweep's share. */
#ifndef REPORT_JSON_RUN_H
#define REPORT_JSON_RUN_H

#include "report/report.h"
#include "report/emit.h"

/* "trace": what is replayed. */
void gp_json_trace(struct gp_emit *json, const struct gp_report *report);
/* One run, in an array. */
void gp_json_run(struct gp_emit *json, const struct gp_report *report,
		 const struct gp_run *run, enum gp_emit_shape shape);

#endif
