/* SPDX-License-Identifier: MIT */
/*
 * A stream that writes to memory, like open_memstream; but if memory is
 * exhausted, it ends the run (base/mem.h) instead of silently truncating the
 * text.
 */
#ifndef BASE_TEXT_SINK_H
#define BASE_TEXT_SINK_H

#include <stdio.h>

struct gp_text_sink {
	char *text;
	size_t size, room;
};

/* The sink must not move until the stream is closed. */
FILE *gp_text_sink_open(struct gp_text_sink *sink);

/* Closes the stream; returns its text with a NUL at the end, which the caller
 * frees. */
char *gp_text_sink_close(struct gp_text_sink *sink, FILE *stream);

#endif
