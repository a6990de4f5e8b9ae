/* SPDX-License-Identifier: MIT */
/* The setting to use, for a program. */
#include "gpupool/report.h"
#include "report/emit.h"
#include "report/emit_parts.h"

static const char *const verdicts[] = {
	[GP_KEEP] = "keep",
	[GP_CHANGE] = "change",
	[GP_CAPACITY] = "capacity",
};

static void write_trial(struct gp_emit *json, const struct gp_trial *trial,
			bool is_open)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "alloc_conf", trial->conf);
	gp_emit_bool(json, "excluded", trial->is_excluded);
	if (*trial->refusal) {
		gp_emit_text(json, "refusal", trial->refusal);
		gp_emit_close(json, '}');
		return;
	}
	gp_emit_null(json, "refusal");
	gp_emit_uint(json, "num_ooms", trial->ooms);
	gp_emit_uint(json, "num_alloc_retries", trial->retries);
	gp_emit_uint(json, "peak_reserved", trial->peak_reserved);
	gp_emit_uint(json, "malloc", trial->mallocs);
	gp_emit_uint(json, "map", trial->pages);
	gp_emit_real(json, "time_us", trial->time_us);
	if (trial->need) {
		gp_emit_limit(json, "need", trial->need);
		gp_emit_limit(json, "missing", trial->missing);
		if (!is_open)
			gp_emit_uint(json, "spare", trial->spare);
	}
	gp_emit_close(json, '}');
}

static void write_fidelity(struct gp_emit *json,
			   const struct gp_suggest_report *report)
{
	gp_emit_open(json, "fidelity", '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "checked", report->checked);
	gp_emit_uint(json, "matched", report->matched);
	gp_emit_close(json, '}');
}

static void write_suggestion(struct gp_emit *json,
			     const struct gp_suggest_report *report)
{
	const struct gp_suggestion *s = report->suggestion;
	const struct gp_trial *chosen = &s->trials[s->chosen];
	bool is_capacity = s->verdict == GP_CAPACITY;

	gp_emit_open(json, "suggestion", '{', GP_EMIT_LINES);
	gp_emit_text(json, "verdict", verdicts[s->verdict]);
	gp_emit_text(json, "alloc_conf", chosen->conf);
	gp_emit_release(json, "torch", report->release);
	gp_emit_open(json, "capacity", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < report->trace->device_count; i++)
		gp_emit_limit(json, NULL, report->capacity[i]);
	gp_emit_close(json, ']');
	if (report->capacity_below)
		gp_emit_uint(json, "capacity_below", report->capacity_below);
	gp_emit_uint(json, "live", s->live);
	if (is_capacity) {
		gp_emit_limit(json, "need", chosen->need);
		gp_emit_limit(json, "missing", chosen->missing);
	}
	if (s->unconstrained < s->count)
		gp_emit_text(json, "unconstrained",
			     s->trials[s->unconstrained].conf);
	else
		gp_emit_null(json, "unconstrained");
	write_fidelity(json, report);
	gp_emit_open(json, "tried", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < s->count; i++)
		write_trial(json, &s->trials[i], s->is_open);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_suggest_json(const struct gp_suggest_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path);
	write_suggestion(&json, report);
	gp_emit_close(&json, '}');
}
