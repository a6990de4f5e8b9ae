/* SPDX-License-Identifier: MIT */
/* What went wrong and what helps, for a program. */
#include "metrics/explain.h"
#include "report/report.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/holders.h"
#include "report/ranks.h"
#include "report/verdict.h"

#define MOST_HOLDERS 20

/* The device that decides: the moment that is looked at. */
static void write_worst(struct gp_emit *json,
			const struct gp_look_report *report)
{
	const struct gp_explain *e = report->explain;

	gp_emit_uint(json, "device",
		     report->trace->devices[report->device].device);
	gp_emit_uint(json, "event", e->event);
	gp_emit_bool(json, "out_of_memory", e->result.first_oom.is_there);
	gp_emit_count(json, GP_RESERVED, e->gap.reserved);
	gp_emit_count(json, GP_ALLOCATED, e->gap.allocated);
	if (report->recorded)
		gp_emit_matched(json, report->recorded->fidelity.checked,
				report->recorded->fidelity.matched);
	else
		gp_emit_null(json, "fidelity");
	gp_emit_holders(json, "in_use", e->trace, &e->live, MOST_HOLDERS);
}

void gp_report_look_json(const struct gp_look_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path);
	if (!report->trace) {
		gp_emit_uint(&json, "blocks", report->spans);
		gp_emit_uint(&json, "live", report->spans_live);
		gp_emit_close(&json, '}');
		return;
	}
	gp_emit_choice(&json, "release_choice", report->choice);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, report->study);
	else
		gp_emit_verdicts(&json, report->trace, report->study);
	if (report->study->case_count)
		write_worst(&json, report);
	gp_emit_close(&json, '}');
}
