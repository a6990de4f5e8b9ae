/* SPDX-License-Identifier: MIT */
/*
 * Searching the events of a device by part of a frame's name, size, kind,
 * stream and block. Results are returned a window at a time: all matches are
 * counted, and a range of rows is returned.
 */
#ifndef STUDY_METRICS_EVENT_SEARCH_H
#define STUDY_METRICS_EVENT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

struct gp_event_search {
	uint64_t from, to; /* events [from, to); to == 0: to the end */
	const char *text;  /* part of any frame, ignoring case; NULL: all */
	/* bytes; 0 and 0: all events, even without a size */
	uint64_t least, most;
	uint32_t kinds; /* bits of 1 << enum gp_event_kind; 0: all */
	uint32_t id;	/* GP_NO_ID: all */
	/* Index into the trace's streams, for events that have one;
	 * GP_NO_STREAM: all. */
	uint16_t stream;
	uint64_t row; /* the first row to return */
	size_t rows;  /* most rows to return */
};

struct gp_event_rows {
	uint64_t *events;
	size_t count;
	uint64_t found; /* number of matches in total */
};

/* By id, the site of the block's alloc, or that of the start block; the caller
 * frees the result. */
uint32_t *gp_alloc_sites(const struct gp_device_trace *device);

/* sites: gp_alloc_sites() of the device; a free also matches the stack of its
 * block's alloc. */
void gp_event_search(const struct gp_trace *trace, uint32_t device,
		     const struct gp_event_search *search,
		     const uint32_t *sites, struct gp_event_rows *rows);
void gp_event_rows_release(struct gp_event_rows *rows);

#endif
