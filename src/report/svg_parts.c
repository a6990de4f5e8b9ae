/* SPDX-License-Identifier: MIT */
/* Parts of drawings: timeline and memory map as SVG. */
#include "report/svg_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/safe.h"
#include "base/utf8.h"
#include "study/metrics/film.h"
#include "trace/steps.h"
#include "report/head.h"
#include "report/page.h"
#include "report/report.h"

#define GIB	  (UINT64_C(1) << 30)
#define MAP_LINES 18 /* lines that the memory is spread over */
#define LINE	  20 /* height of a line, including the space between lines */
#define BAR	  14

/* Colours by class, for files without a style sheet. */
static const char style_sheet[] =
	".reserved{fill:#eae2cf;stroke:#8a8478;stroke-width:1}"
	".active{fill:#b08fc7;stroke:#b08fc7;stroke-width:.8}"
	".allocated{fill:#3b6ea8;stroke:#3b6ea8;stroke-width:.8}"
	".axis{stroke:#d5d1ca;stroke-width:1}.mark{stroke:#c0392b;"
	"stroke-width:1;stroke-dasharray:3 3}"
	"text{font:11px sans-serif;fill:#555}.marked{fill:#c0392b}"
	".free{fill:#eae2cf}.used{fill:#3b6ea8}.waiting{fill:#b08fc7}"
	".edge{fill:none;stroke:#8a8478;stroke-width:.6}"
	".title{font-size:14px;fill:#222}";

/* Writes a character, or "?" for one that is invisible or changes the direction
 * of the surrounding text; returns its length in bytes. */
static size_t put_character(const char *text, size_t length, FILE *out)
{
	size_t bytes = gp_utf8_character(text, length);
	uint32_t code;

	if (bytes < 2 || !gp_safe_hides(text, bytes, &code))
		return gp_utf8_put_xml(text, length, out);
	putc('?', out);
	return bytes;
}

void gp_xml_text(const char *text, FILE *out)
{
	const char *end = text + strlen(text);

	while (text < end)
		switch (*text) {
		case '&': text++, fputs("&amp;", out); break;
		case '<': text++, fputs("&lt;", out); break;
		case '>': text++, fputs("&gt;", out); break;
		case '"': text++, fputs("&quot;", out); break;
		case '\'': text++, fputs("&#39;", out); break;
		case '\r': text++, putc('?', out); break;
		default: text += put_character(text, (size_t)(end - text), out);
		}
}

/* ---- over time ---- */

/* The distance of grid lines: 1, 2 or 5 times a power of two's unit, for four
 * to eight lines. */
static uint64_t step_of(uint64_t bytes)
{
	uint64_t unit = 1;

	while (unit < bytes / 1024 && unit < GIB * 1024)
		unit *= 1024;
	for (uint64_t scale = 1;; scale *= 10) {
		static const uint64_t steps[] = { 1, 2, 5 };

		for (size_t i = 0; i < 3; i++)
			if (unit * scale * steps[i] * 6 >= bytes)
				return unit * scale * steps[i];
	}
}

uint64_t gp_svg_ceiling(uint64_t bytes)
{
	uint64_t step = step_of(bytes ? bytes : 1);

	return bytes + step / 8 + 1;
}

uint64_t gp_svg_top(const struct gp_report *report, size_t device)
{
	uint64_t top = 0;

	for (size_t i = 0; i < report->run_count; i++) {
		uint64_t peak =
			report->runs[i].results[device].at_peak.reserved;

		top = peak > top ? peak : top;
	}
	return top;
}

static double x_of(const struct gp_svg_plot *plot, uint64_t event)
{
	double part = plot->events ? (double)event / (double)plot->events : 0;

	return plot->left + plot->width * part;
}

static double y_of(const struct gp_svg_plot *plot, uint64_t bytes)
{
	return plot->top + plot->height -
	       plot->height * (double)bytes / (double)plot->bytes;
}

static uint64_t reserved(const struct gp_moment *m)
{
	return m->reserved;
}

static uint64_t active(const struct gp_moment *m)
{
	return m->active;
}

static uint64_t allocated(const struct gp_moment *m)
{
	return m->allocated;
}

struct area {
	const char *name;
	uint64_t (*value)(const struct gp_moment *moment);
};

static const struct area areas[] = {
	{ "reserved", reserved },
	{ "active", active },
	{ "allocated", allocated },
};

static void draw_area(const struct gp_svg_plot *plot, const struct area *area,
		      const struct gp_moment *moments, size_t count, FILE *out)
{
	double floor = y_of(plot, 0);

	fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1f", area->name,
		plot->left, floor);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "H%.1fV%.1f", x_of(plot, moments[i].event),
			y_of(plot, area->value(&moments[i])));
	fprintf(out, "H%.1fV%.1fZ\"/>\n", plot->left + plot->width, floor);
}

static void draw_scale(const struct gp_svg_plot *plot, FILE *out)
{
	uint64_t step = step_of(plot->bytes);

	for (uint64_t at = 0; at <= plot->bytes; at += step)
		fprintf(out,
			"<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" "
			"y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\">%s</text>\n",
			plot->left, plot->left + plot->width, y_of(plot, at),
			y_of(plot, at), plot->left - 6, y_of(plot, at) + 4,
			GP_BYTES(at));
}

static void draw_events(const struct gp_svg_plot *plot, FILE *out)
{
	double y = plot->top + plot->height + 16;

	fprintf(out,
		"<text x=\"%.1f\" y=\"%.1f\">event 0</text><text x=\"%.1f\" "
		"y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		plot->left, y, plot->left + plot->width, y,
		GP_COUNT(plot->events));
}

#define MARK_TEXT 220 /* width reserved for a mark's text */
#define MARK_LINE 14

/* line: number of the text line below the axis, from 0 */
static void draw_mark(const struct gp_svg_plot *plot, const char *what,
		      uint64_t event, int line, FILE *out)
{
	double x = x_of(plot, event), floor = plot->top + plot->height;
	bool is_left = x > plot->left + plot->width - MARK_TEXT;
	char text[GP_EVENT_TEXT];

	fprintf(out,
		"<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
		"y2=\"%.1f\"/><text class=\"marked\" x=\"%.1f\" y=\"%.1f\"%s>"
		"%s: %s</text>\n",
		x, x, plot->top, floor + 4, is_left ? x - 5 : x + 5,
		floor + 30 + line * MARK_LINE,
		is_left ? " text-anchor=\"end\"" : "", what,
		gp_event_when(plot->trace, plot->device, event, text));
}

/* Labels are below the axis, to the right of the mark if there is room; if two
 * could overlap, each has a line of its own. */
static void draw_marks(const struct gp_svg_plot *plot, uint64_t peak,
		       const struct gp_oom *oom, FILE *out)
{
	double apart = x_of(plot, oom->event) - x_of(plot, peak);

	if (oom->is_there && oom->event == peak) {
		draw_mark(plot, "peak, out of memory", peak, 0, out);
		return;
	}
	draw_mark(plot, "peak", peak, 0, out);
	if (oom->is_there)
		draw_mark(plot, "out of memory", oom->event,
			  apart < 2 * MARK_TEXT && apart > -2 * MARK_TEXT, out);
}

void gp_svg_timeline(const struct gp_svg_plot *plot,
		     const struct gp_track *track,
		     const struct gp_replay_result *result, FILE *out)
{
	struct gp_moment *moments;
	size_t count = gp_thin_moments(track->thin, &moments);

	draw_scale(plot, out);
	for (size_t i = 0; i < sizeof(areas) / sizeof(*areas); i++)
		draw_area(plot, &areas[i], moments, count, out);
	draw_events(plot, out);
	draw_marks(plot, result->at_peak.event, &result->first_oom, out);
	free(moments);
}

/* ---- the map ---- */

struct sheet {
	double left, top, width;
	uint64_t per_line; /* bytes */
	FILE *out;
};

/* Bytes [from, to) of the map: a rectangle for each line that they touch. */
static void draw_span(const struct sheet *sheet, const char *class,
		      uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t line = from / sheet->per_line;
		uint64_t end = (line + 1) * sheet->per_line;
		double scale = sheet->width / (double)sheet->per_line;

		if (end > to)
			end = to;
		fprintf(sheet->out,
			"<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" "
			"width=\"%.2f\" height=\"%d\"/>",
			class,
			sheet->left +
				(double)(from - line * sheet->per_line) * scale,
			sheet->top + (double)line * LINE,
			(double)(end - from) * scale, BAR);
		from = end;
	}
}

static const char *class_of(const struct gp_block *block)
{
	return block->state == GP_ACTIVE ? "used" : "waiting";
}

/* Adjacent blocks in use are drawn as one shape. */
static void draw_segment(const struct sheet *sheet,
			 const struct gp_state *state,
			 const struct gp_segment *segment, uint64_t at)
{
	const struct gp_block *blocks = &state->blocks[segment->first_block];
	uint64_t from = at, here = at;

	draw_span(sheet, "free", at, at + segment->size);
	for (uint32_t i = 0; i < segment->blocks; i++) {
		bool is_used = blocks[i].state != GP_INACTIVE;
		bool goes_on =
			i && is_used && blocks[i].state == blocks[i - 1].state;

		if (!goes_on)
			from = here;
		here += blocks[i].size;
		if (is_used && (i + 1 == segment->blocks ||
				blocks[i + 1].state != blocks[i].state))
			draw_span(sheet, class_of(&blocks[i]), from, here);
	}
	draw_span(sheet, "edge", at, at + segment->size);
	putc('\n', sheet->out);
}

double gp_svg_map(const struct gp_state *state, double left, double top,
		  double width, FILE *out)
{
	struct sheet sheet = { left, top, width, 0, out };
	uint64_t all = gp_state_reserved(state), at = 0;

	if (!all)
		return 0;
	sheet.per_line = (all + MAP_LINES - 1) / MAP_LINES;
	for (size_t i = 0; i < state->segment_count; i++) {
		draw_segment(&sheet, state, &state->segments[i], at);
		at += state->segments[i].size;
	}
	return MAP_LINES * LINE;
}

/* ---- a drawing for a paper ---- */

#define WIDTH  900
#define LEFT   80
#define PLOT   240 /* height of a timeline */
#define AROUND 84  /* its title, axis and marks */
#define MAP    420 /* a map and its title */

static void draw_run(const struct gp_report *report, const struct gp_run *run,
		     size_t device, uint64_t top_bytes, double top, FILE *out)
{
	struct gp_svg_plot plot = {
		.left = LEFT,
		.top = top + 34,
		.width = WIDTH - LEFT - 20,
		.height = PLOT,
		.events = gp_head_most_events(report, device),
		.bytes = gp_svg_ceiling(top_bytes),
		.trace = report->trace,
		.device = (uint32_t)device,
	};

	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%.1f\">", LEFT,
		top + 18);
	gp_xml_text(gp_page_name(report->path), out);
	fputs(": ", out);
	if (gp_head_engine(run->engine)) {
		gp_xml_text(gp_head_engine(run->engine), out);
		fputs(", ", out);
	}
	gp_xml_text(gp_head_settings(run->conf), out);
	for (size_t i = 0; run->what_ifs && i < run->what_ifs->count; i++)
		fprintf(out, ", --%s", run->what_ifs->notes[i].asked.row->name);
	fprintf(out, ", PyTorch 2.%u</text>\n", run->settings->release);
	gp_svg_timeline(&plot, &run->tracks[device], &run->results[device],
			out);
}

static void draw_map(const struct gp_trace *trace, const struct gp_run *run,
		     size_t device, const struct gp_map_choice *choice,
		     double top, FILE *out)
{
	struct gp_state state;
	const char *what;
	uint64_t event = gp_map_event(choice, &run->results[device], &what);
	struct gp_steps steps;
	char at[GP_EVENT_TEXT];

	gp_steps_find(trace, (uint32_t)device, &steps);

	gp_film_state(run->tracks[device].film, event, &state);
	fprintf(out,
		"<text class=\"title\" x=\"%d\" y=\"%.1f\">Memory by address "
		"at %s, %s</text>\n",
		LEFT, top + 18,
		gp_event_moment(trace, (uint32_t)device, &steps, event, at),
		what);
	gp_svg_map(&state, LEFT, top + 34, WIDTH - LEFT - 20, out);
	gp_state_release(&state);
	free(steps.list);
}

static void draw_legend(double top, FILE *out)
{
	static const struct {
		const char *class, *text;
	} items[] = {
		{ "used", "allocated" },
		{ "waiting", "pending free" },
		{ "free", "reserved, free" },
	};

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		fprintf(out,
			"<rect class=\"%s\" x=\"%zu\" y=\"%.1f\" width=\"12\" "
			"height=\"12\"/><text x=\"%zu\" y=\"%.1f\">%s</text>\n",
			items[i].class, LEFT + i * 200, top,
			LEFT + i * 200 + 18, top + 10, items[i].text);
}

void gp_report_svg(const struct gp_report *report,
		   const struct gp_map_choice *choice, FILE *out)
{
	size_t pictures = report->trace->device_count * report->run_count;
	double top = 0;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d "
		"%zu\" width=\"%d\" font-family=\"sans-serif\">\n"
		"<title>Memory over time</title><style>%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, pictures * (PLOT + AROUND + MAP) + 30, WIDTH,
		style_sheet);
	for (size_t d = 0; d < report->trace->device_count; d++)
		for (size_t i = 0; i < report->run_count; i++) {
			const struct gp_run *run = &report->runs[i];

			draw_run(report, run, d, gp_svg_top(report, d), top,
				 out);
			top += PLOT + AROUND;
			draw_map(report->trace, run, d, choice, top, out);
			top += MAP;
		}
	draw_legend(top + 8, out);
	fputs("</svg>\n", out);
}
