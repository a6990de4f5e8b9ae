/* SPDX-License-Identifier: MIT */
/*
 * A stream whose text is kept in memory.  As open_memstream, which cuts a text
 * off without a word where memory runs out: this ends the run (base/mem.h).
 */
#ifndef BASE_TEXT_SINK_H
#define BASE_TEXT_SINK_H

#include <stdio.h>

struct gp_text_sink {
	char *text;
	size_t size, room;
};

/* The sink stays where it is until the stream is closed. */
FILE *gp_text_sink_open(struct gp_text_sink *sink);

/* Closes the stream.  The text, with a NUL behind size; the caller frees. */
char *gp_text_sink_close(struct gp_text_sink *sink, FILE *stream);

#endif
