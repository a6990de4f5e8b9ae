/* SPDX-License-Identifier: MIT */
/*
 * Parts of drawings: the same shapes for a page, which colours them by its
 * style sheet, and for a file of their own.
 */
#ifndef REPORT_SVG_PARTS_H
#define REPORT_SVG_PARTS_H

#include <stdio.h>

#include "report/report.h"

/* Where a drawing of values over events goes, in user units. */
struct gp_svg_plot {
	double left, top, width, height;
	uint64_t events; /* at the right edge */
	uint64_t bytes;	 /* at the upper edge */
	const struct gp_trace *trace;
	uint32_t device; /* index */
};

/* The value rounded up to a round number of the axis' unit. */
uint64_t gp_svg_ceiling(uint64_t bytes);

/* The most that any run of that device reserves. */
uint64_t gp_svg_top(const struct gp_report *report, size_t device);

/* Areas of reserved, active and allocated, axes, and marks of the peak and the
 * first out-of-memory error. */
void gp_svg_timeline(const struct gp_svg_plot *plot,
		     const struct gp_track *track,
		     const struct gp_replay_result *result, FILE *out);

/* Memory in address order, wrapped into lines; returns the height used. */
double gp_svg_map(const struct gp_state *state, double left, double top,
		  double width, FILE *out);

/* Text for HTML and XML. */
void gp_xml_text(const char *text, FILE *out);

#endif
