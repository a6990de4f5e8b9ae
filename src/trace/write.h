/* SPDX-License-Identifier: MIT */
/* The writers of the formats; gp_trace_write chooses. */
#ifndef TRACE_WRITE_H
#define TRACE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "gpupool/trace.h"
#include "trace/sink.h"

/* is_lines: JSON Lines.  Errors are the stream's. */
void gp_write_json(const struct gp_trace *trace, bool is_lines, FILE *out);
void gp_write_binary(const struct gp_trace *trace, FILE *out);

/* What the events of a device are written with. */
struct gp_event_style {
	const char *separator;	/* between two events */
	bool names_device;	/* each event says which device it is of */
	bool frees_are_at_once; /* unless they say otherwise */
};

void gp_write_events(struct gp_sink *sink, const struct gp_trace *trace,
		     const struct gp_device_trace *device,
		     const struct gp_event_style *style);

/* "key":[first,second] of a pool, with a comma before it. */
void gp_write_pool(struct gp_sink *sink, const char *key,
		   struct gp_pool_id pool);

#endif
