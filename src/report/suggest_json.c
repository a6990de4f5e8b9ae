/* SPDX-License-Identifier: MIT */
/* The setting to use, for a program. */
#include "report/report.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/ranks.h"
#include "report/verdict.h"

void gp_report_suggest_json(const struct gp_suggest_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);
	const struct gp_study *study = report->study;

	gp_emit_trace_path(&json, report->path);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, study);
	else
		gp_emit_verdicts(&json, report->trace, study);
	if (report->capacity_below)
		gp_emit_uint(&json, "capacity_below", report->capacity_below);
	if (study->unconstrained < study->count)
		gp_emit_text(&json, "unconstrained",
			     study->trials[study->unconstrained].conf);
	else
		gp_emit_null(&json, "unconstrained");
	gp_emit_matched(&json, report->checked, report->matched);
	gp_emit_trials(&json, study);
	gp_emit_close(&json, '}');
}
