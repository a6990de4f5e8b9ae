/* SPDX-License-Identifier: MIT */
/* What gpupool itself takes for a trace. */
#include <inttypes.h>

#include "report/bench_report.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/page.h"

void gp_report_speed_text(const struct gp_speed_report *report,
			  const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	char events[GP_PLURAL_TEXT];

	gp_page_line(&page, GP_TONE_TITLE, 2, "%s: %s",
		     gp_page_name(report->path),
		     gp_plural_text(report->events, "event", events));
	gp_page_blank(&page);
	fprintf(out, "%-22s %10s %10s %10s %6s\n", "ns an event", "p10",
		"median", "p90", "runs");
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_speed *row = &report->rows[i];

		fprintf(out, "%-22s %10.1f %10.1f %10.1f %6" PRIu32 "\n",
			row->what, row->p10_ns, row->median_ns, row->p90_ns,
			row->runs);
	}
}

void gp_report_speed_json(const struct gp_speed_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_open(&json, "trace", '{', GP_EMIT_LINES);
	gp_emit_text(&json, "path", report->path);
	gp_emit_uint(&json, "events", report->events);
	gp_emit_close(&json, '}');
	gp_emit_open(&json, "speed", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_speed *row = &report->rows[i];

		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(&json, "what", row->what);
		gp_emit_uint(&json, "runs", row->runs);
		gp_emit_ratio(&json, "p10_ns", row->p10_ns);
		gp_emit_ratio(&json, "median_ns", row->median_ns);
		gp_emit_ratio(&json, "p90_ns", row->p90_ns);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
