/* SPDX-License-Identifier: MIT */
/* What went wrong and what helps, for a program. */
#include "gpupool/explain.h"
#include "gpupool/report.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/ranks.h"
#include "report/verdict.h"

#define MOST_HOLDERS 20

static void write_fidelity(struct gp_emit *json,
			   const struct gp_look_report *report)
{
	if (!report->recorded) {
		gp_emit_null(json, "fidelity");
		return;
	}
	gp_emit_open(json, "fidelity", '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "checked", report->recorded->fidelity.checked);
	gp_emit_uint(json, "matched", report->recorded->fidelity.matched);
	gp_emit_close(json, '}');
}

static void write_holders(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_open(json, "in_use", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->live.count && i < MOST_HOLDERS; i++) {
		const struct gp_culprit *c = &e->live.list[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "bytes", c->bytes);
		gp_emit_uint(json, "blocks", c->blocks);
		gp_emit_uint(json, "smallest", c->least);
		gp_emit_uint(json, "largest", c->most);
		gp_emit_bool(json, "from_start", c->from_start);
		gp_emit_sites(json, e->trace, c->site);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

/* The device that decides: the moment that is looked at. */
static void write_worst(struct gp_emit *json,
			const struct gp_look_report *report)
{
	const struct gp_explain *e = report->explain;

	gp_emit_uint(json, "device",
		     report->trace->devices[report->device].device);
	gp_emit_uint(json, "event", e->event);
	gp_emit_bool(json, "out_of_memory", e->result.first_oom.is_there);
	gp_emit_uint(json, "reserved", e->gap.reserved);
	gp_emit_uint(json, "allocated", e->gap.allocated);
	write_fidelity(json, report);
	write_holders(json, e);
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
