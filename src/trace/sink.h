/* SPDX-License-Identifier: MIT */
/*
 * Characters out: JSON's numbers and strings into a buffer, that into a
 * stream.  Errors are the stream's; ask it at the end.
 */
#ifndef TRACE_SINK_H
#define TRACE_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GP_SINK_BYTES 65536

struct gp_sink {
	FILE *out;
	size_t used;
	char buffer[GP_SINK_BYTES];
};

void gp_sink_flush(struct gp_sink *sink);
void gp_sink_bytes(struct gp_sink *sink, const char *bytes, size_t length);
void gp_sink_number(struct gp_sink *sink, uint64_t number);
void gp_sink_ratio(struct gp_sink *sink, double ratio);
void gp_sink_string(struct gp_sink *sink, const char *text); /* quoted */

static inline void gp_sink_put(struct gp_sink *sink, const char *text)
{
	gp_sink_bytes(sink, text, strlen(text));
}

/* ,"key":number */
void gp_sink_field(struct gp_sink *sink, const char *key, uint64_t number);

#endif
