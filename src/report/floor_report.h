/* SPDX-License-Identifier: MIT */
/*
 * What `gpupool floor` tells: how little memory would do, and what makes up the
 * rest of what a run reserves.
 */
#ifndef REPORT_FLOOR_REPORT_H
#define REPORT_FLOOR_REPORT_H

#include <stdio.h>

#include "study/metrics/change.h"
#include "study/floor/floor.h"
#include "report/report.h"

/* One device of a trace. */
struct gp_floor_device {
	uint32_t device; /* CUDA's ordinal */
	struct gp_spans spans;
	struct gp_floor floor;
	uint64_t requested; /* most that is live at once, not rounded */
	/* The run, as told by its settings: of all requests, also when memory
	 * ran out, which is then another run, without an end of memory. */
	struct gp_breakdown breakdown;
	uint64_t capacity;  /* of the run; GP_UNLIMITED */
	uint64_t dropped;   /* requests that it did not serve there */
	uint64_t live_then; /* bytes live at the breakdown's event, rounded */
};

/*
 * What the run reserves and the packing does not need:
 *	reserved - height = shape + rounding + waiting + streams + pools +
 *			    packing - (height - bound)
 * shape: live at the run's peak less the bound, so not above 0; rounding: of
 * blocks, beyond that of the bound.
 */
struct gp_floor_parts {
	int64_t shape, rounding, waiting, streams, pools, packing, height;
};
struct gp_floor_parts gp_floor_parts_of(const struct gp_floor_device *device);

struct gp_floor_report {
	const char *path;
	const struct gp_trace *trace; /* NULL: spans of a CSV */
	const char *conf;
	const struct gp_settings *settings; /* NULL: spans of a CSV */
	uint64_t round;
	uint64_t capacity; /* asked of spans of a CSV; 0: none */
	const struct gp_floor_device *devices;
	size_t count;
};

void gp_report_floor_text(const struct gp_floor_report *report,
			  const struct gp_report_style *style, FILE *out);
void gp_report_floor_json(const struct gp_floor_report *report, FILE *out);
/* minimalloc's CSV, with offsets. */
void gp_report_floor_csv(const struct gp_floor_report *report, FILE *out);

#endif
