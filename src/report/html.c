/* SPDX-License-Identifier: MIT */
/*
 * Pages for a browser, and the page of a run, which is complete without
 * scripts. If scripts run and can replay (struct gp_live_page), their output
 * takes the place of elements of class "replaced".
 */
#include "report/html.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text_sink.h"
#include "report/emit.h"
#include "report/group.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/svg_parts.h"
#include "study/metrics/film.h"
#include "trace/steps.h"

/* ---- the beginning of a page, and tables: cells whose values scripts and
 * tests can read ---- */

/* Adds a script or style to the policy; its content is a newline and this
 * text. */
static void allow(const char *text, FILE *out)
{
	size_t length = strlen(text) + 1;
	char *content = gp_mem_alloc(length + 1, 1), hash[GP_SHA256_TEXT];

	snprintf(content, length + 1, "\n%s", text);
	fprintf(out, " 'sha256-%s'", gp_sha256_base64(content, length, hash));
	free(content);
}

/* The content security policy: only this program's own scripts and style are
 * allowed, whatever a trace contains. The worker is made from text in the page,
 * and nothing is fetched. */
static void put_policy(FILE *out)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src",
	      out);
	allow(gp_page_css, out);
	fputs("; script-src 'wasm-unsafe-eval'", out);
	allow(gp_app_bundle_js, out);
	allow(gp_tables_js, out);
	fputs("; worker-src blob:; base-uri 'none'; form-action 'none'\">",
	      out);
}

void gp_html_begin(FILE *out, const char *title)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\"><meta name=\"viewport\" "
	      "content=\"width=device-width,initial-scale=1\">",
	      out);
	put_policy(out);
	fputs("<title>", out);
	gp_xml_text(title, out);
	fprintf(out,
		"%s</title><style>\n%s</style></head>\n<body><main>"
		"<header><h1 id=\"title\">",
		strcmp(title, "gpupool") != 0 ? " - gpupool" : "", gp_page_css);
	gp_xml_text(title, out);
	fputs("</h1>\n", out);
}

void gp_html_end(FILE *out)
{
	fprintf(out, "<script>\n%s</script>\n</body></html>\n", gp_tables_js);
}

void gp_html_table(FILE *out, const char *id, const char *columns)
{
	bool is_number, is_new = true;

	fprintf(out,
		"<div class=scroll><table class=sortable "
		"data-table=\"%s\"><thead><tr>",
		id);
	for (; *columns; columns++) {
		is_number = *columns == '#';
		if (is_new)
			fprintf(out, "<th scope=col%s>",
				is_number ? " class=n" : "");
		is_new = *columns == '|';
		if (is_new)
			fputs("</th>", out);
		else if (!is_number)
			putc(*columns, out);
	}
	fputs("</th></tr></thead><tbody>\n", out);
}

void gp_html_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

void gp_html_name(FILE *out, const char *text)
{
	fputs("<tr><th scope=row>", out);
	gp_xml_text(text, out);
	fputs("</th>", out);
}

void gp_html_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	gp_xml_text(text, out);
	fputs("</td>", out);
}

static void number(FILE *out, const char *key, uint64_t value, const char *text)
{
	fprintf(out, "<td data-key=\"%s\" data-value=\"%" PRIu64 "\">%s</td>",
		key, value, text);
}

void gp_html_bytes(FILE *out, const char *key, uint64_t bytes)
{
	number(out, key, bytes, GP_BYTES(bytes));
}

void gp_html_count(FILE *out, const char *key, uint64_t count)
{
	number(out, key, count, GP_COUNT(count));
}

void gp_html_row_end(FILE *out)
{
	fputs("</tr>\n", out);
}

/* ---- replaying in the page ---- */

static void put_start(const struct gp_live_page *page, FILE *out)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink) };
	char flag[64];

	gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_text(&json, "conf", page->conf);
	gp_emit_text(&json, "torch", page->torch);
	gp_emit_text(&json, "capacity", page->capacity);
	gp_emit_open(&json, "words", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < page->flag_count; i++) {
		snprintf(flag, sizeof(flag), "--%s", page->flags[i].name);
		gp_emit_text(&json, NULL, flag);
		if (page->flags[i].argument)
			gp_emit_text(&json, NULL, page->flags[i].argument);
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
	gp_text_sink_close(&sink, json.out);
	fputs("<script type=\"application/json\" id=\"start\">", out);
	/* '<' is escaped, so that no text ends the element early. */
	for (size_t i = 0; i < sink.size; i++)
		if (sink.text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(sink.text[i], out);
	fputs("</script>\n", out);
	free(sink.text);
}

static void put_part(const char *id, const struct gp_live_part *part, FILE *out)
{
	fprintf(out, "<script type=\"text/plain\" %s", id);
	if (part->name) {
		fputs(" data-trace=\"", out);
		gp_xml_text(part->name, out);
		putc('"', out);
	}
	putc('>', out);
	gp_base64_put(part->bytes, part->size, out);
	fputs("</script>\n", out);
}

/* Writes, in <main>, the controls, or why there are none. */
static void put_controls(const struct gp_live_page *page, FILE *out)
{
	if (page->wasm.bytes) {
		fputs(gp_app_html, out);
	} else if (page->why) {
		fputs("<p class=\"note\">", out);
		gp_xml_text(page->why, out);
		fputs("</p>\n", out);
	}
}

/* Writes, after </main>, the parts and scripts, to the end of the page. */
static void put_end(const struct gp_live_page *page, FILE *out)
{
	if (page->wasm.bytes) {
		if (page->conf)
			put_start(page, out);
		put_part("id=\"gpupool-wasm\"", &page->wasm, out);
		for (size_t i = 0; i < page->trace_count; i++)
			put_part("", &page->traces[i], out);
		fprintf(out,
			"<script type=\"text/plain\" id=\"gpupool-worker\">%s"
			"</script>\n<script>\n%s</script>\n",
			gp_worker_bundle_js, gp_app_bundle_js);
	}
	gp_html_end(out);
}

void gp_live_page_write(const struct gp_live_page *page, FILE *out)
{
	gp_html_begin(out, "gpupool");
	fputs("</header>\n", out);
	put_controls(page, out);
	fputs("</main>\n", out);
	put_end(page, out);
}

#define WIDTH 1080 /* of drawings, in user units */

static const char *const run_names[] = { "A", "B" };

/* ---- numbers ---- */

/* A value, in full for scripts and tests, and formatted for people. */
static void write_value(const char *tag, enum gp_measure_id id,
			const struct gp_subject *subject, FILE *out)
{
	const struct gp_measure *measure = &gp_measures[id];
	char text[GP_COUNT_TEXT];

	gp_measure_text(measure, subject, text);
	if (measure->unit == GP_UNIT_RATIO)
		fprintf(out, "<%s data-key=\"%s\" data-value=\"%.6f\">", tag,
			measure->key, measure->ratio(subject));
	else
		fprintf(out, "<%s data-key=\"%s\" data-value=\"%" PRIu64 "\">",
			tag, measure->key, measure->count(subject));
	gp_xml_text(text, out);
	fprintf(out, "</%s>", tag);
}

static void write_tile(const char *label, enum gp_measure_id id,
		       const struct gp_subject *subject, const char *note,
		       FILE *out)
{
	fprintf(out, "<div><dt>%s</dt>", label);
	write_value("dd", id, subject, out);
	fprintf(out, "<dd class=\"note\">%s</dd></div>\n", note);
}

static void write_peak(const struct gp_replay_result *result, FILE *out)
{
	struct gp_subject peak = gp_at_peak(result);

	write_tile("Peak reserved", GP_PEAK_RESERVED, &peak,
		   "held from the device", out);
	if (gp_measure_is_known(GP_RECORDED_RESERVED, &peak))
		write_tile("Recorded", GP_RECORDED_RESERVED, &peak,
			   "reserved at the most, as the recording says", out);
	write_tile("Allocated then", GP_ALLOCATED, &peak, "in use by tensors",
		   out);
	write_tile("Gap", GP_GAP, &peak, "reserved, not in use", out);
	write_tile("Fragmentation", GP_FRAGMENTATION, &peak,
		   "gap / reserved, at the peak", out);
}

/* Takes the place of the replay's peak, which would be mistaken for exact. */
static void write_estimate(const struct gp_estimate *estimate, FILE *out)
{
	char bounds[GP_ESTIMATE_TEXT];

	fprintf(out,
		"<div><dt>Peak reserved</dt><dd data-key=\"estimate\" "
		"data-value=\"%" PRIu64 "\">%s</dd>"
		"<dd class=\"note\">%s</dd></div>\n",
		estimate->reserved, GP_BYTES(estimate->reserved),
		gp_estimate_text(estimate, bounds));
}

/* estimate NULL: the replay's own numbers are exact. */
static void write_tiles(const struct gp_replay_result *result,
			const struct gp_estimate *estimate, FILE *out)
{
	char text[GP_RECORDED_TEXT];
	struct gp_subject end = gp_at_end(result);

	if (gp_recorded_more(&result->recorded, result->at_peak.reserved, text))
		fprintf(out, "<p class=\"told\">%s</p>\n", text);
	if (estimate)
		fprintf(out,
			"<p class=\"told\">The trace begins with memory in "
			"use that was cached under the recorded settings. "
			"Peak reserved is an estimate: %s. The pictures and "
			"tables below are the replay from that start.</p>\n",
			estimate->how);
	fputs("<dl class=\"tiles\">\n", out);
	if (estimate)
		write_estimate(estimate, out);
	else
		write_peak(result, out);
	write_tile("Peak allocated", GP_PEAK_ALLOCATED, &end,
		   "most in use at any moment", out);
	write_tile("OOMs", GP_NUM_OOMS, &end, "requests not served", out);
	fputs("</dl>\n", out);
}

/* ---- pictures that need no script ---- */

static void write_timeline(const struct gp_report *report, size_t run,
			   size_t device, FILE *out)
{
	struct gp_svg_plot plot = {
		.left = 76,
		.top = 26,
		.width = WIDTH - 84,
		.height = 210,
		.events = gp_head_most_events(report, device),
		.bytes = gp_svg_ceiling(gp_svg_top(report, device)),
		.trace = report->trace,
		.device = (uint32_t)device,
	};

	fprintf(out,
		"<div class=\"timeline\" data-run=\"%zu\"><svg viewBox=\"0 0 "
		"%d 290\" role=\"img\" aria-label=\"Memory over the events of "
		"the run: reserved, active and allocated\">\n",
		run, WIDTH);
	gp_svg_timeline(&plot, &report->runs[run].tracks[device],
			&report->runs[run].results[device], out);
	fputs("</svg></div>\n", out);
}

static void write_map(const struct gp_report *report, size_t run, size_t device,
		      FILE *out)
{
	const struct gp_run *r = &report->runs[run];
	struct gp_map_choice choice = { .when = GP_MAP_OOM };
	const char *what;
	uint64_t event = gp_map_event(&choice, &r->results[device], &what);
	struct gp_state state;
	struct gp_steps steps;
	char at[GP_EVENT_TEXT];

	gp_steps_find(report->trace, (uint32_t)device, &steps);

	gp_film_state(r->tracks[device].film, event, &state);
	fprintf(out,
		"<div class=\"map\" data-run=\"%zu\"><p class=\"when\" "
		"aria-live=\"polite\">At %s, %s: %s</p>"
		"<svg viewBox=\"0 0 %d 362\" role=\"img\" aria-label=\"Memory "
		"by address\">\n",
		run,
		gp_event_moment(report->trace, (uint32_t)device, &steps, event,
				at),
		what, GP_PLURAL(state.segment_count, "segment"), WIDTH);
	gp_svg_map(&state, 0, 4, WIDTH, out);
	fputs("</svg></div>\n", out);
	gp_state_release(&state);
	free(steps.list);
}

static void write_legend(FILE *out)
{
	fputs("<p class=\"legend\"><span><i class=\"k k-allocated\"></i>"
	      "allocated</span> <span><i class=\"k "
	      "k-pending_free\"></i>pending "
	      "free</span> <span><i class=\"k k-free\"></i>"
	      "reserved, free</span></p>\n",
	      out);
}

/* ---- tables ---- */

static void write_head(const struct gp_report *report, const char *first,
		       FILE *out)
{
	fprintf(out, "<thead><tr><th scope=\"col\">%s</th>", first);
	for (size_t i = 0; i < report->run_count; i++) {
		const char *name = report->run_count > 1 ? run_names[i] : "";

		fprintf(out,
			"<th scope=\"col\" class=\"n\">%s at the peak</th>"
			"<th scope=\"col\" class=\"n\">%s at the end</th>",
			name, name);
	}
	fputs("<th scope=\"col\">formula</th></tr></thead><tbody>\n", out);
}

static void write_measures(const struct gp_report *report, size_t device,
			   FILE *out)
{
	fputs("<h2>Measures</h2><div class=\"scroll\"><table "
	      "class=\"sortable\">",
	      out);
	write_head(report, "measure", out);
	for (unsigned id = 0; id < GP_MEASURES; id++) {
		if (gp_measures[id].scope != GP_SCOPE_MOMENT)
			continue;
		fprintf(out, "<tr><th scope=\"row\" title=\"%s\">%s</th>",
			gp_measures[id].reading, gp_measures[id].label);
		for (size_t i = 0; i < report->run_count; i++) {
			const struct gp_replay_result *result =
				&report->runs[i].results[device];
			struct gp_subject peak = gp_at_peak(result);
			struct gp_subject end = gp_at_end(result);

			write_value("td", id, &peak, out);
			write_value("td", id, &end, out);
		}
		fprintf(out, "<td class=\"formula\">%s</td></tr>\n",
			gp_measures[id].formula);
	}
	fputs("</tbody></table></div>\n", out);
}

/* ---- the whole ---- */

static void write_run_line(const struct gp_report *report, size_t i, FILE *out)
{
	const struct gp_run *run = &report->runs[i];
	char memory[GP_HEAD_MEMORY], text[GP_HEAD_WHAT_IF];

	fputs("<p class=\"settings replaced\">", out);
	if (report->run_count > 1)
		fprintf(out, "<b>%s</b> ", run_names[i]);
	if (gp_head_engine(run->engine)) {
		gp_xml_text(gp_head_engine(run->engine), out);
		fputs("; ", out);
	}
	gp_xml_text(gp_head_settings(run->conf), out);
	fprintf(out, "; PyTorch 2.%u; memory: ", run->settings->release);
	gp_xml_text(report->trace->device_count
			    ? gp_head_memory(run->mode, run->capacity,
					     report->trace->device_count,
					     memory)
			    : "none",
		    out);
	fprintf(out, "; %s",
		run->mode == GP_VERIFY ? "replayed as recorded"
				       : "replayed on a simulated device");
	for (size_t k = 0; run->what_ifs && k < run->what_ifs->count; k++) {
		fputs("; ", out);
		gp_xml_text(gp_head_what_if(&run->what_ifs->notes[k], text),
			    out);
	}
	fputs("</p>\n", out);
}

static void write_doubt(const char *title, const char *text, FILE *out)
{
	if (!text)
		return;
	fprintf(out, "<p class=\"settings replaced\"><b>%s</b> ", title);
	gp_xml_text(text, out);
	fputs("</p>\n", out);
}

/* Notes on where the recording may differ from a run on a GPU. */
static void write_doubts(const struct gp_trace *trace, FILE *out)
{
	if (gp_trace_doubts_path(trace))
		write_doubt("Path:", trace->values, out);
	write_doubt("Unknown:", gp_trace_unknown(trace), out);
}

/* The prefix of titles if there are two runs: "A: ". */
static const char *run_title(const struct gp_report *report, size_t i)
{
	static const char *const names[] = { "A: ", "B: " };

	return report->run_count > 1 ? names[i] : "";
}

static void write_difference(const struct gp_measure *measure, uint64_t was,
			     uint64_t is, FILE *out)
{
	uint64_t by = is > was ? is - was : was - is;

	fprintf(out, "<td data-value=\"%" PRId64 "\">%s%s</td>",
		(int64_t)(is - was),
		is > was   ? "+"
		: is < was ? "\u2212"
			   : "",
		!by				 ? "same"
		: measure->unit == GP_UNIT_BYTES ? GP_BYTES(by)
						 : GP_COUNT(by));
	gp_html_row_end(out);
}

/* Only the reserved memory of the second run's peak is estimated. */
static void write_estimated_difference(const struct gp_subject *a,
				       const struct gp_estimate *estimate,
				       FILE *out)
{
	const struct gp_measure *measure = &gp_measures[GP_PEAK_RESERVED];
	char bounds[GP_ESTIMATE_TEXT];

	gp_html_name(out, measure->label);
	write_value("td", GP_PEAK_RESERVED, a, out);
	fprintf(out,
		"<td data-key=\"estimate\" data-value=\"%" PRIu64
		"\">%s, %s</td>",
		estimate->reserved, GP_BYTES(estimate->reserved),
		gp_estimate_text(estimate, bounds));
	write_difference(measure, measure->count(a), estimate->reserved, out);
}

/* The differences between the two runs. */
static void write_differences(const struct gp_report *report, size_t d,
			      FILE *out)
{
	static const enum gp_measure_id ids[] = {
		GP_PEAK_RESERVED,  GP_ALLOCATED, GP_GAP,
		GP_PEAK_ALLOCATED, GP_NUM_OOMS,	 GP_NUM_RETRIES,
	};
	const size_t of_peak = 3; /* the first of them */
	const struct gp_estimate *estimate =
		gp_run_estimate(&report->runs[1], d);
	struct gp_subject a = gp_at_peak(&report->runs[0].results[d]);
	struct gp_subject b = gp_at_peak(&report->runs[1].results[d]);

	gp_html_table(out, "differences",
		      "measure, at the peak|#A|#B|#difference");
	if (estimate)
		write_estimated_difference(&a, estimate, out);
	for (size_t i = estimate ? of_peak : 0; i < sizeof(ids) / sizeof(*ids);
	     i++) {
		const struct gp_measure *measure = &gp_measures[ids[i]];

		gp_html_name(out, measure->label);
		write_value("td", ids[i], &a, out);
		write_value("td", ids[i], &b, out);
		write_difference(measure, measure->count(&a),
				 measure->count(&b), out);
	}
	gp_html_table_end(out);
}

static void write_run(const struct gp_report *report, size_t i, size_t d,
		      FILE *out)
{
	if (report->run_count > 1)
		fprintf(out, "<h3>%s</h3>\n", run_names[i]);
	if (report->explanations)
		gp_html_verdict(&report->explanations[i], d, out);
	write_tiles(&report->runs[i].results[d],
		    gp_run_estimate(&report->runs[i], d), out);
	if (!i)
		write_legend(out);
	write_timeline(report, i, d, out);
}

static void write_maps(const struct gp_report *report, size_t d, FILE *out)
{
	fputs("<h2>Memory map</h2>\n"
	      "<p class=\"about\">All reserved memory in the order of its "
	      "addresses, line after line; outlines are segments.</p>\n"
	      "<div class=\"maps\">\n",
	      out);
	for (size_t i = 0; i < report->run_count; i++) {
		if (report->run_count > 1)
			fprintf(out, "<h3>%s</h3>\n", run_names[i]);
		write_map(report, i, d, out);
	}
	fputs("</div>\n", out);
}

static void write_device(const struct gp_report *report, size_t d, FILE *out)
{
	fprintf(out, "<section class=\"device%s\" data-device=\"%zu\">\n",
		report->trace->devices[d].event_count > 1 ? "" : " still", d);
	if (report->trace->device_count > 1)
		fprintf(out, "<h2>Device %u</h2>\n",
			report->trace->devices[d].device);
	fputs("<div class=\"replaced\">\n", out);
	if (report->run_count > 1)
		write_differences(report, d, out);
	for (size_t i = 0; i < report->run_count; i++)
		write_run(report, i, d, out);
	write_maps(report, d, out);
	fputs("</div>\n", out);
	for (size_t i = 0; report->explanations && i < report->run_count; i++)
		gp_html_explain(&report->explanations[i], d,
				run_title(report, i), out);
	write_measures(report, d, out);
	for (size_t i = 0; i < report->run_count; i++) {
		fprintf(out, "<h2>%sAt the end, by pool and stream</h2>",
			run_title(report, i));
		gp_group_html(report->trace, &report->runs[i].results[d].end,
			      out);
	}
	fputs("</section>\n", out);
}

/* The same words as in the text report. */
static void write_nothing(FILE *out)
{
	struct gp_report_style style = { 0 };
	struct gp_text_sink sink;
	FILE *memory = gp_text_sink_open(&sink);
	char *text;
	struct gp_page page = gp_page_make(&style, memory);

	page.columns = UINT_MAX; /* the browser wraps it */
	gp_head_nothing(&page);
	text = gp_text_sink_close(&sink, memory);
	fputs("<pre class=told>", out);
	gp_xml_text(text, out);
	fputs("</pre>\n", out);
	free(text);
}

void gp_report_html(const struct gp_report *report, FILE *out)
{
	static const struct gp_live_page none;
	const struct gp_live_page *live = report->live ? report->live : &none;

	gp_html_begin(out, gp_page_name(report->path));
	for (size_t i = 0; i < report->run_count; i++)
		write_run_line(report, i, out);
	write_doubts(report->trace, out);
	ranks_paragraph(report->ranks, report->path, out);
	fputs("</header>\n", out);
	put_controls(live, out);
	fputs("<div id=\"still\">\n", out);
	if (!report->trace->device_count)
		write_nothing(out);
	for (size_t d = 0; d < report->trace->device_count; d++)
		write_device(report, d, out);
	fputs("</div>\n<footer>Made by gpupool. Numbers are those of --format "
	      "json; their definitions are in gpupool-metrics(7).</footer>"
	      "</main>\n",
	      out);
	put_end(live, out);
}
