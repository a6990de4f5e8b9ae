/* SPDX-License-Identifier: MIT */
/*
 * Memory by group: sums over the segments of a state, by size class, by stream
 * and by pool.
 */
#ifndef REPORT_GROUP_H
#define REPORT_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"
#include "report/page.h"

enum gp_grouping {
	GP_BY_NOTHING, /* one group: all of it */
	GP_BY_SIZE,    /* 0: small pool, 1: large pool */
	GP_BY_STREAM,  /* index into trace->streams */
	GP_BY_POOL,    /* index into trace->pools */
	GP_GROUPINGS,
};

struct gp_group {
	uint32_t key; /* by grouping, as above */
	uint64_t segments, blocks;
	uint64_t reserved;  /* of segments */
	uint64_t allocated; /* of active blocks */
	uint64_t active;    /* those, and pending frees */
	uint64_t requested; /* of the same, before rounding */
	uint64_t largest_free;
};

/* The groups that have segments, sorted by key; the caller frees *groups. */
size_t gp_group_state(const struct gp_trace *trace,
		      const struct gp_state *state, enum gp_grouping grouping,
		      struct gp_group **groups);

/* The sum of all groups of a state. */
struct gp_group gp_group_total(const struct gp_state *state);

/* "small pool", "stream 0 (default)", "private pool (0, 1)". */
#define GP_GROUP_LABEL 64
const char *gp_group_label(const struct gp_trace *trace,
			   enum gp_grouping grouping, uint32_t key,
			   char label[GP_GROUP_LABEL]);
/* "stream 0 (default)", "stream 7", "stream 0x55d0". */
const char *gp_group_stream(uint64_t handle, char label[GP_GROUP_LABEL]);

/* ---- as a table ---- */

/* With a total; streams and pools only if there are several. */
void gp_group_print(const struct gp_page *page, const struct gp_trace *trace,
		    const struct gp_state *state, const char *title);
/* The same on a page. */
void gp_group_html(const struct gp_trace *trace, const struct gp_state *state,
		   FILE *out);

#endif
