/* SPDX-License-Identifier: MIT */
/* A stream that writes to memory. */
#include "base/text_sink.h"

#include <string.h>
#include <sys/types.h>

#include "base/mem.h"

static ssize_t take(void *cookie, const char *bytes, size_t n)
{
	struct gp_text_sink *sink = cookie;

	GP_GROW(sink->text, sink->size + n + 1, sink->room);
	memcpy(sink->text + sink->size, bytes, n);
	sink->size += n;
	return (ssize_t)n;
}

FILE *gp_text_sink_open(struct gp_text_sink *sink)
{
	static const cookie_io_functions_t calls = { .write = take };
	FILE *stream;

	*sink = (struct gp_text_sink){ 0 };
	stream = fopencookie(sink, "w", calls);
	if (!stream)
		gp_mem_end();
	return stream;
}

char *gp_text_sink_close(struct gp_text_sink *sink, FILE *stream)
{
	fclose(stream);
	GP_GROW(sink->text, sink->size + 1, sink->room);
	sink->text[sink->size] = '\0';
	return sink->text;
}
