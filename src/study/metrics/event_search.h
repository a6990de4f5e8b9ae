/* SPDX-License-Identifier: MIT */
/*
 * Which events of a device somebody looks for: by a part of a frame's name, by
 * size, kind, stream and block.  A list is shown a window at a time: what is
 * found is counted, and so many of it are told from some row on.
 */
#ifndef STUDY_METRICS_EVENT_SEARCH_H
#define STUDY_METRICS_EVENT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

struct gp_event_search {
	uint64_t from, to;    /* events [from, to); to 0: to the end */
	const char *text;     /* in any frame, in either case; NULL: all */
	uint64_t least, most; /* bytes; 0 and 0: all, also without a size */
	uint32_t kinds;	      /* bits of 1 << enum gp_event_kind; 0: all */
	uint32_t id;	      /* GP_NO_ID: all */
	/* Index into the trace's streams, among events that have one;
	 * GP_NO_STREAM: all. */
	uint16_t stream;
	uint64_t row; /* the first that is told */
	size_t rows;  /* at most */
};

struct gp_event_rows {
	uint64_t *events;
	size_t count;
	uint64_t found; /* in all */
};

/* By id, the site of its alloc, or of the start's block; the caller frees. */
uint32_t *gp_alloc_sites(const struct gp_device_trace *device);

/* A free is found by the stack of its block's alloc, too, which is what sites
 * are: gp_alloc_sites of the device. */
void gp_event_search(const struct gp_trace *trace, uint32_t device,
		     const struct gp_event_search *search,
		     const uint32_t *sites, struct gp_event_rows *rows);
void gp_event_rows_release(struct gp_event_rows *rows);

#endif
