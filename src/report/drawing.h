/* SPDX-License-Identifier: MIT */
/*
 * A drawing of memory over a run: what was reserved, how much of it was
 * allocated, and when the peak was.
 */
#ifndef REPORT_DRAWING_H
#define REPORT_DRAWING_H

#include <stdint.h>
#include <stdio.h>

#include "gpupool/replay.h"
#include "report/report.h"

struct gp_drawing {
	const struct gp_timeline *timeline;
	uint64_t events;     /* the timeline spans them */
	uint64_t peak_event; /* of reserved */
	const char *peak;    /* the same in words */
	uint64_t top;	     /* bytes at the upper edge; 0: the largest value */
	unsigned rows;	     /* of the area; 0: 8 */
};

/* Prints rows + 3 lines, none wider than the style's columns (at least 50);
 * prints nothing without bins. */
void gp_drawing_print(const struct gp_drawing *drawing,
		      const struct gp_report_style *style, FILE *out);

/* The largest value of the timeline. */
uint64_t gp_drawing_top(const struct gp_timeline *timeline);

#endif
