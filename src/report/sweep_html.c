/* SPDX-License-Identifier: MIT */
/* A sweep as a page: the answer, a plot of memory against time, and the
 * table. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "report/sweep_report.h"
#include "report/html.h"
#include "report/page.h"
#include "report/svg_parts.h"
#include "report/sweep_rank.h"

#define WIDTH  1080 /* of the drawing, in user units */
#define HEIGHT 380
#define LEFT   84
#define TOP    16
#define RIGHT  (WIDTH - 24)
#define FLOOR  (HEIGHT - 48)

/* ---- memory against time ---- */

struct span {
	double least, most;
	double limit; /* values beyond it are drawn at the edge */
};

struct plot {
	const struct gp_sweep_report *sweep;
	const struct ranking *ranking;
	struct span time, bytes;
	FILE *out;
};

#define FAR 4 /* outliers are beyond this many times the value of most runs */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The range of the scale; it ignores a few outliers far from the other runs and
 * from the recorded one. */
static struct span span_of(double *values, size_t count, double recorded)
{
	struct span span = { recorded, recorded, recorded * FAR };

	if (!count)
		return span;
	qsort(values, count, sizeof(*values), by_value);
	if (values[(count - 1) / 2] > recorded)
		span.limit = values[(count - 1) / 2] * FAR;
	return span;
}

static void widen(struct span *span, double value)
{
	if (value > span->limit)
		return;
	if (value < span->least)
		span->least = value;
	if (value > span->most)
		span->most = value;
}

/* Adds a margin around the points. */
static void pad(struct span *span)
{
	double room = (span->most - span->least) * .08;

	if (room <= 0)
		room = span->most > 0 ? span->most * .1 : 1;
	span->most += room;
	span->least = span->least > room ? span->least - room : 0;
}

/* Limits a value to the scale. */
static double within(const struct span *span, uint64_t value)
{
	return (double)value > span->most ? span->most : (double)value;
}

static bool is_beyond(const struct plot *plot, const struct gp_sweep_row *row)
{
	return (double)gp_row_peak(row) > plot->bytes.most ||
	       (double)row->device_time_us > plot->time.most;
}

static double x_of(const struct plot *plot, uint64_t us)
{
	double at = within(&plot->time, us);

	return LEFT + (RIGHT - LEFT) * (at - plot->time.least) /
			      (plot->time.most - plot->time.least);
}

static double y_of(const struct plot *plot, uint64_t bytes)
{
	double at = within(&plot->bytes, bytes);

	return FLOOR - (FLOOR - TOP) * (at - plot->bytes.least) /
			       (plot->bytes.most - plot->bytes.least);
}

/* 1, 2 or 5 times a power of ten of the unit, with at most six in the span. */
static double step_of(const struct span *span, double unit)
{
	static const double steps[] = { 1, 2, 5 };

	for (double scale = unit / 1000;; scale *= 10)
		for (int i = 0; i < 3; i++)
			if (scale * steps[i] * 6 >= span->most - span->least)
				return scale * steps[i];
}

static void draw_levels(const struct plot *plot)
{
	double unit = plot->bytes.most >= 1 << 30 ? 1 << 30 : 1 << 20;
	double step = step_of(&plot->bytes, unit);

	for (double at = ceil(plot->bytes.least / step) * step;
	     at <= plot->bytes.most; at += step) {
		double y = y_of(plot, (uint64_t)at);

		fprintf(plot->out,
			"<line class=axis x1=%d x2=%d y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=%d y=\"%.1f\" text-anchor=end>%s</text>\n",
			LEFT, RIGHT, y, y, LEFT - 8, y + 4,
			GP_BYTES((uint64_t)at));
	}
}

static void draw_times(const struct plot *plot)
{
	double step = step_of(&plot->time, 1000);

	for (double at = ceil(plot->time.least / step) * step;
	     at <= plot->time.most; at += step) {
		double x = x_of(plot, (uint64_t)at);

		fprintf(plot->out,
			"<line class=axis x1=\"%.1f\" x2=\"%.1f\" y1=%d "
			"y2=\"%d\"/>"
			"<text x=\"%.1f\" y=%d text-anchor=middle>%.*f ms"
			"</text>\n",
			x, x, FLOOR, FLOOR + 5, x, FLOOR + 19,
			step < 1000 ? 2 : 0, at / 1e3);
	}
	fprintf(plot->out,
		"<line class=axis x1=%d x2=%d y1=%d y2=\"%d\"/><text x=%d y=%d "
		"text-anchor=end>time of device calls</text>\n",
		LEFT, RIGHT, FLOOR, FLOOR, RIGHT, FLOOR + 38);
}

/* The Pareto front, as steps: no run has both less memory and less time. */
static void draw_front(const struct plot *plot)
{
	const struct ranking *r = plot->ranking;
	double last_y = -1;

	fputs("<path class=front-line d=\"", plot->out);
	for (size_t i = 0; i < r->count; i++) {
		const struct gp_sweep_row *row = r->contenders[i].row;
		double x = x_of(plot, row->device_time_us);
		double y = y_of(plot, gp_row_peak(row));

		if (!gp_rank_is_front(r->contenders, r->count, i))
			continue;
		if (last_y < 0)
			fprintf(plot->out, "M%.1f %.1f", x, y);
		else
			fprintf(plot->out, "V%.1fH%.1f", y, x);
		last_y = y;
	}
	fputs("\"/>\n", plot->out);
}

static void draw_point(const struct plot *plot, const char *class,
		       const struct gp_sweep_row *row, const char *label)
{
	fprintf(plot->out,
		"<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=5><title>",
		class, x_of(plot, row->device_time_us),
		y_of(plot, gp_row_peak(row)));
	gp_xml_text(label, plot->out);
	fprintf(plot->out, ": %s, %.1f ms, %s</title></circle>\n",
		GP_BYTES(gp_row_peak(row)), (double)row->device_time_us / 1e3,
		GP_PLURAL(row->ooms, "OOM"));
}

/* A point moved to the edge is labelled with its values. */
static void draw_beyond(const struct plot *plot, const struct gp_sweep_row *row)
{
	bool is_right = x_of(plot, row->device_time_us) > (LEFT + RIGHT) / 2;

	if (!is_beyond(plot, row))
		return;
	fprintf(plot->out,
		"<text class=beyond x=\"%.1f\" y=\"%.1f\" "
		"text-anchor=%s>beyond: %s, %.1f ms</text>\n",
		x_of(plot, row->device_time_us) + (is_right ? -9 : 9),
		y_of(plot, gp_row_peak(row)) + 4, is_right ? "end" : "start",
		GP_BYTES(gp_row_peak(row)), (double)row->device_time_us / 1e3);
}

static void draw_contender(const struct plot *plot, size_t i)
{
	const struct ranking *r = plot->ranking;
	const struct gp_contender *c = &r->contenders[i];
	bool is_front = gp_rank_is_front(r->contenders, r->count, i);
	bool is_tie = i && gp_rank_is_tie(c - 1, c);
	char *label = sweep_label(plot->sweep, c->index);

	draw_point(plot,
		   is_front ? "point front"
		   : c->row->dropped > r->contenders[0].row->dropped
			   ? "point failed"
			   : "point",
		   c->row, label);
	draw_beyond(plot, c->row);
	if (is_front && !is_tie)
		fprintf(plot->out,
			"<text class=place x=\"%.1f\" y=\"%.1f\">%zu</text>\n",
			x_of(plot, c->row->device_time_us) + 9,
			y_of(plot, gp_row_peak(c->row)) - 7, i + 1);
	free(label);
}

/* Sets the scales for all runs, the recorded one included. */
static void set_spans(struct plot *plot)
{
	const struct ranking *r = plot->ranking;
	double *values = gp_mem_alloc(r->count + 1, sizeof(*values));

	for (size_t i = 0; i < r->count; i++)
		values[i] = (double)r->contenders[i].row->device_time_us;
	plot->time =
		span_of(values, r->count, (double)r->recorded.device_time_us);
	for (size_t i = 0; i < r->count; i++)
		values[i] = (double)gp_row_peak(r->contenders[i].row);
	plot->bytes = span_of(values, r->count, (double)r->recorded.reserved);
	free(values);
	for (size_t i = 0; i < r->count; i++) {
		const struct gp_sweep_row *row = r->contenders[i].row;

		widen(&plot->time, (double)row->device_time_us);
		widen(&plot->bytes, (double)gp_row_peak(row));
	}
	pad(&plot->time);
	pad(&plot->bytes);
}

static void draw(const struct gp_sweep_report *sweep,
		 const struct ranking *ranking, FILE *out)
{
	const struct gp_sweep_row *recorded = &ranking->recorded;
	struct plot plot = {
		.sweep = sweep,
		.ranking = ranking,
		.out = out,
	};

	set_spans(&plot);
	fprintf(out,
		"<h2>Memory and time</h2><p class=legend><span><i class=\"k "
		"k-front\"></i>nothing takes less of both, with its place in "
		"the table</span> <span><i class=\"k k-other\"></i>others"
		"</span> <span><i class=\"k k-failed\"></i>serve fewer requests"
		"</span> <span><i class=\"k k-recorded\"></i>as recorded</span>"
		"</p><div class=scroll><svg class=scatter viewBox=\"0 0 %d "
		"%d\" role=img "
		"aria-label=\"Peak reserved over the time of device calls, a "
		"point for each combination\">\n",
		WIDTH, HEIGHT);
	draw_levels(&plot);
	draw_times(&plot);
	draw_front(&plot);
	for (size_t i = ranking->count; i-- > 0;)
		draw_contender(&plot, i);
	if (!*recorded->failure)
		draw_point(&plot, "point recorded", recorded, "as recorded");
	fputs("</svg></div>\n", out);
}

/* ---- the table ---- */

static void write_table(const struct gp_sweep_report *sweep,
			const struct ranking *ranking, FILE *out)
{
	struct gp_table table = sweep_table(sweep, GP_TABLE_HTML, out);

	if (sweep_is_of_part(sweep))
		fputs("<h2>All combinations</h2><p>Of the requests in the "
		      "trace, a part of what was reserved: their order says "
		      "nothing of the whole program.</p>\n",
		      out);
	else
		fputs("<h2>All combinations, best first</h2>\n", out);
	gp_table_begin(&table, "ranking");
	for (size_t i = 0; i < ranking->count; i++)
		sweep_table_contender(&table, ranking, i);
	sweep_table_recorded(&table, ranking);
	gp_table_end(&table);
}

/* ---- combinations without a rank ---- */

static void write_other(const struct gp_sweep_report *sweep,
			const struct sweep_other *other, FILE *out)
{
	char *label = sweep_label(sweep, other->index);

	gp_html_name(out, label);
	gp_html_cell(out, sweep->entries[other->index].torch);
	gp_html_cell(out, other->why);
	gp_html_row_end(out);
	free(label);
}

static void write_others(const struct gp_sweep_report *sweep,
			 const struct ranking *ranking,
			 enum sweep_other_kind kind, FILE *out)
{
	static const char *const ids[SWEEP_OTHERS] = { "cut", "excluded",
						       "unknown", "skipped" };
	size_t count = 0;

	for (size_t i = 0; i < ranking->other_count; i++) {
		if (ranking->others[i].kind != kind)
			continue;
		if (!count++) {
			fprintf(out, "<h2>%s%s</h2>\n",
				sweep_other_titles[kind],
				kind == SWEEP_CUT
					? ", since they cannot be best"
					: "");
			gp_html_table(out, ids[kind], "settings|PyTorch|why");
		}
		write_other(sweep, &ranking->others[i], out);
	}
	if (count)
		gp_html_table_end(out);
}

/* ---- the whole page ---- */

/* The same words as in the text report. */
static void write_answer(const struct gp_sweep_report *sweep,
			 const struct gp_sweep_report_style *style, FILE *out)
{
	struct gp_sweep_report_style plain = { .by = style->by,
					       .style.columns = 96 };
	struct gp_text_sink sink;
	FILE *memory = gp_text_sink_open(&sink);
	char *text;

	gp_sweep_report_answer(sweep, &plain, memory);
	text = gp_text_sink_close(&sink, memory);
	fputs("<pre>", out);
	gp_xml_text(text, out);
	fputs("</pre></header>\n", out);
	free(text);
}

void gp_sweep_report_html(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out)
{
	struct ranking ranking = ranking_make(sweep, style->by);

	gp_html_begin(out, sweep->trace_count == 1
				   ? gp_page_name(sweep->traces[0].path)
				   : "A sweep over several traces");
	write_answer(sweep, style, out);
	if (ranking.count) {
		draw(sweep, &ranking, out);
		write_table(sweep, &ranking, out);
	}
	for (int kind = 0; kind < SWEEP_OTHERS; kind++)
		write_others(sweep, &ranking, (enum sweep_other_kind)kind, out);
	fprintf(out,
		"<footer>Made by gpupool sweep. Times are those of calls of "
		"the device by %s prices; waiting for the device is not "
		"included.</footer></main>\n",
		strcmp(sweep->prices, "built in") ? "given" : "built-in");
	gp_html_end(out);
	ranking_release(&ranking);
}
