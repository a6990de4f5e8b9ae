/* SPDX-License-Identifier: MIT */
/*
 * Parts of drawings: the same shapes for a page, whose style sheet colours
 * them, and for an SVG file of its own.
 */
#ifndef REPORT_SVG_PARTS_H
#define REPORT_SVG_PARTS_H

#include <stdio.h>

#include "report/report.h"

/* The place of a plot of values over events, in user units. */
struct gp_svg_plot {
	double left, top, width, height;
	uint64_t events; /* at the right edge */
	uint64_t bytes;	 /* at the upper edge */
	const struct gp_trace *trace;
	uint32_t device; /* index */
};

/* The value rounded up to a round number of the axis' unit. */
uint64_t gp_svg_ceiling(uint64_t bytes);

/* The most that any run of that device reserves, in bytes. */
uint64_t gp_svg_top(const struct gp_report *report, size_t device);

/* Areas of reserved, active and allocated, axes, and marks of the peak and the
 * first out-of-memory error. */
void gp_svg_timeline(const struct gp_svg_plot *plot,
		     const struct gp_track *track,
		     const struct gp_replay_result *result, FILE *out);

/* Memory in address order, wrapped into lines; returns the height used. */
double gp_svg_map(const struct gp_state *state, double left, double top,
		  double width, FILE *out);

/* Writes text escaped for HTML and XML. */
void gp_xml_text(const char *text, FILE *out);

#endif
