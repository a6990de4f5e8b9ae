/* SPDX-License-Identifier: MIT */
/* A drawing for a paper: memory over time, and the map of one moment. */
#include <stdlib.h>

#include "base/bytes.h"
#include "metrics/film.h"
#include "report/report.h"
#include "trace/steps.h"
#include "report/head.h"
#include "report/moment.h"
#include "report/page.h"
#include "report/svg_parts.h"

#define WIDTH  900
#define LEFT   80
#define PLOT   240 /* height of a timeline */
#define AROUND 70  /* its title and axis */
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
	gp_svg_text(gp_page_name(report->path), out);
	fputs(": ", out);
	gp_svg_text(*run->conf ? run->conf : "default settings", out);
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
		gp_svg_style);
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
