/* SPDX-License-Identifier: MIT */
/* A sweep as JSON, one line a run. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "report/sweep_report.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/keys.h"
#include "report/object.h"
#include "report/sweep_rank.h"
#include "report/ranks.h"
#include "report/verdict.h"

/* ---- the head ---- */

static void write_row(struct gp_emit *json, const struct gp_sweep_row *row)
{
	if (*row->failure) {
		gp_emit_text(json, "failure", row->failure);
		gp_emit_null(json, "summary");
		return;
	}
	gp_emit_object(json, "summary", "summary", row, GP_EMIT_FLAT);
}

#define RELEASE_TEXT 8
static const char *release_text(uint8_t release, char text[RELEASE_TEXT])
{
	snprintf(text, RELEASE_TEXT, "2.%u", release);
	return text;
}

static void range_of_memory(const struct gp_report *report,
			    struct gp_sweep_report_trace *trace)
{
	uint64_t least = GP_UNLIMITED, most = 0;

	for (size_t d = 0; d < report->trace->device_count; d++) {
		uint64_t capacity = report->runs->capacity[d];

		least = gp_smaller(least, capacity);
		if (capacity != GP_UNLIMITED)
			most = gp_larger(most, capacity);
	}
	if (least < most) {
		trace->least_capacity = least;
		trace->most_capacity = most;
	}
}

static void write_recorded(struct gp_emit *json, const struct gp_report *report,
			   const struct gp_prices *prices)
{
	const struct gp_run *run = report->runs;
	char torch[RELEASE_TEXT];
	struct gp_sweep_report_trace trace = {
		.conf = run->conf,
		.torch = release_text(run->settings->release, torch),
		.capacity = report->trace->device_count ? run->capacity[0]
							: GP_UNLIMITED,
	};

	range_of_memory(report, &trace);
	for (size_t d = 0; d < report->trace->device_count; d++) {
		trace.checked += run->results[d].fidelity.checked;
		trace.matched += run->results[d].fidelity.matched;
		gp_row_add(&trace.row, &run->results[d], NULL, prices);
	}
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", report->path);
	gp_emit_told(json, report->trace);
	gp_emit_settings(json, "settings", run->settings);
	gp_emit_keys(json, "sweep_trace", &trace);
	write_row(json, &trace.row);
	gp_emit_close(json, '}');
}

static void write_prices(struct gp_emit *json, const struct gp_prices *prices)
{
	gp_emit_open(json, "prices", '{', GP_EMIT_LINES);
	gp_emit_text(json, "name", prices->name);
	gp_emit_open(json, "list", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < prices->count; i++) {
		const struct gp_price *row = &prices->rows[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "call", gp_price_call_name(row->call));
		gp_emit_keys(json, "price", row);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

/* ---- classes of values ---- */

static void write_mib(struct gp_emit *json, uint64_t mib)
{
	if (mib == GP_UNLIMITED)
		gp_emit_null(json, NULL);
	else
		gp_emit_uint(json, NULL, mib);
}

static void write_range(struct gp_emit *json, const struct gp_box *box,
			enum gp_space_axis axis)
{
	gp_emit_open(json, gp_space_names[axis], '[', GP_EMIT_FLAT);
	if (axis == GP_SPACE_SPLIT) {
		write_mib(json, box->split_least_mb);
		write_mib(json, box->split_most_mb);
	} else if (axis == GP_SPACE_LARGE) {
		write_mib(json, box->large_least_mb);
		write_mib(json, box->large_most_mb);
	} else {
		if (box->gc_least <= box->gc_most)
			gp_emit_real(json, NULL,
				     box->gc_least > DBL_MIN ? box->gc_least
							     : 0);
		else
			gp_emit_null(json, NULL);
		if (box->gc_off)
			gp_emit_null(json, NULL);
		else
			gp_emit_real(json, NULL, box->gc_most);
	}
	gp_emit_close(json, ']');
}

void keys_write_alike(struct gp_emit *json, const struct gp_key *key,
		      const void *value)
{
	const struct gp_sweep_report_entry *entry = value;

	if (!entry->searched || entry->reason)
		return;
	gp_emit_open(json, key->name, '{', GP_EMIT_FLAT);
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (entry->searched >> i & 1)
			write_range(json, &entry->box, (enum gp_space_axis)i);
	gp_emit_close(json, '}');
}

static void write_classes(struct gp_emit *json,
			  const struct gp_classes *classes)
{
	if (!classes->searched)
		return;
	gp_emit_open(json, "classes", '{', GP_EMIT_LINES);
	gp_emit_open(json, "settings", '[', GP_EMIT_FLAT);
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (classes->searched >> i & 1)
			gp_emit_text(json, NULL, gp_space_names[i]);
	gp_emit_close(json, ']');
	gp_emit_keys(json, "classes", classes);
	gp_emit_close(json, '}');
}

/* ---- combinations ---- */

static void write_combination(struct gp_emit *json,
			      const struct gp_combination *c)
{
	char torch[RELEASE_TEXT];
	const struct gp_sweep_report_entry entry = {
		.conf = c->conf,
		.torch = release_text(c->settings.release, torch),
		.engine = c->engine->name,
		.reason = c->reason,
		.is_undecided = c->is_undecided,
		.capacity = c->capacity,
		.searched = c->searched,
		.box = c->box,
	};

	gp_emit_object(json, NULL, "combination", &entry, GP_EMIT_FLAT);
}

/* A case is a device of a trace, which stand in their order. */
static void write_verdicts(struct gp_emit *json,
			   const struct gp_sweep_report_setup *setup)
{
	size_t trace = 0;

	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < setup->study->case_count; i++) {
		const struct gp_case *c = &setup->cases[i];

		while (setup->recorded[trace].trace != c->trace)
			trace++;
		gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
		gp_emit_uint(json, "trace", trace);
		gp_emit_uint(json, "device",
			     c->trace->devices[c->device].device);
		gp_emit_verdict(json, &setup->study->verdicts[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

/* Ends behind the bracket that opens the runs. */
void gp_sweep_report_write_head(const struct gp_sweep_report_setup *setup,
				FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_json_trace(&json, &setup->recorded[0]);
	gp_emit_ranks(&json, setup->ranks);
	gp_emit_open(&json, "traces", '[', GP_EMIT_LINES);
	for (size_t t = 0; t < setup->trace_count; t++)
		write_recorded(&json, &setup->recorded[t], setup->prices);
	gp_emit_close(&json, ']');
	write_verdicts(&json, setup);
	write_prices(&json, setup->prices);
	if (setup->is_cut)
		gp_emit_bool(&json, "cut", true);
	write_classes(&json, &setup->classes);
	gp_emit_open(&json, "combinations", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < setup->grid->count; i++)
		write_combination(&json, &setup->grid->items[i]);
	gp_emit_close(&json, ']');
	gp_emit_open(&json, "runs", '[', GP_EMIT_LINES);
}

/* ---- runs ---- */

char *gp_sweep_report_failed_body(const struct gp_run *run)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink),
				.depth = 3,
				.flat_depth = 3 };

	putc('{', json.out);
	gp_emit_text(&json, "alloc_conf", run->conf);
	gp_emit_release(&json, "torch", run->settings->release);
	gp_emit_text(&json, "engine", run->engine);
	return gp_text_sink_close(&sink, json.out);
}

char *gp_sweep_report_body(const struct gp_report *report)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink), .depth = 2 };
	char *text, *start;
	size_t size;

	gp_json_run(&json, report, &report->runs[0], GP_EMIT_FLAT);
	text = gp_text_sink_close(&sink, json.out);
	start = strchr(text, '{');
	/* Its closing brace comes with what stands behind. */
	size = sink.size - (size_t)(start - text) - 1;
	memmove(text, start, size);
	text[size] = 0;
	return text;
}

static void write_run(const struct gp_sweep_report *sweep, size_t index,
		      size_t place, FILE *out)
{
	const struct gp_sweep_report_run *run = &sweep->runs[index];
	/* Goes on in the line of the body. */
	struct gp_emit json = {
		.out = out, .depth = 3, .flat_depth = 3, .has_items = true
	};

	fputs(run->body, out);
	gp_emit_uint(&json, "combination", index / sweep->trace_count);
	gp_emit_uint(&json, "trace", index % sweep->trace_count);
	write_row(&json, &run->row);
	if (place)
		gp_emit_uint(&json, "rank", place);
	else
		gp_emit_null(&json, "rank");
	putc('}', out);
}

static void write_order(struct gp_emit *json,
			const struct gp_sweep_report *sweep,
			const struct ranking *ranking)
{
	gp_emit_open(json, "ranking", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < ranking->count; i++) {
		const struct gp_contender *c = &ranking->contenders[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "rank", i + 1);
		gp_emit_uint(json, "combination", c->index);
		gp_emit_text(json, "alloc_conf", c->conf);
		gp_emit_bool(json, "pareto",
			     gp_rank_is_front(ranking->contenders,
					      ranking->count, i));
		gp_emit_bool(json, "tie_with_previous",
			     i && gp_rank_is_tie(c - 1, c));
		gp_emit_int(json, "peak_reserved_minus_recorded_bytes",
			    (int64_t)(gp_row_peak(c->row) -
				      ranking->recorded.reserved));
		gp_emit_uint(json, "worst_trace", c->row->worst);
		write_row(json, c->row);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	(void)sweep;
}

void gp_sweep_report_json(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out)
{
	struct ranking ranking = ranking_make(sweep, style->by);
	struct gp_emit json = { .out = out, .depth = 1, .has_items = true };
	size_t count = sweep->entry_count * sweep->trace_count, written = 0;
	size_t *places = gp_mem_alloc(sweep->entry_count, sizeof(*places));

	for (size_t i = 0; i < ranking.count; i++)
		places[ranking.contenders[i].index] = i + 1;
	fputs(sweep->head, out);
	for (size_t i = 0; i < count; i++) {
		if (!sweep->runs[i].is_done || !sweep->runs[i].body)
			continue;
		fputs(written++ ? ",\n  " : "\n  ", out);
		write_run(sweep, i,
			  style->is_part ? 0 : places[i / sweep->trace_count],
			  out);
	}
	fputs("\n ]", out);
	if (style->is_part)
		gp_emit_null(&json, "ranking");
	else
		write_order(&json, sweep, &ranking);
	fputs("\n}\n", out);
	free(places);
	ranking_release(&ranking);
}
