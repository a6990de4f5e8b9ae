/* SPDX-License-Identifier: MIT */
/* Characters out. */
#include "trace/sink.h"

void gp_sink_flush(struct gp_sink *sink)
{
	fwrite(sink->buffer, 1, sink->used, sink->out);
	sink->used = 0;
}

void gp_sink_bytes(struct gp_sink *sink, const char *bytes, size_t length)
{
	if (length > GP_SINK_BYTES - sink->used)
		gp_sink_flush(sink);
	if (length > GP_SINK_BYTES) {
		fwrite(bytes, 1, length, sink->out);
		return;
	}
	memcpy(sink->buffer + sink->used, bytes, length);
	sink->used += length;
}

void gp_sink_number(struct gp_sink *sink, uint64_t number)
{
	char text[20]; /* digits of 2^64 - 1 */
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	gp_sink_bytes(sink, text + at, sizeof(text) - at);
}

void gp_sink_ratio(struct gp_sink *sink, double ratio)
{
	char text[40];
	int length = snprintf(text, sizeof(text), "%.17g", ratio);

	gp_sink_bytes(sink, text, (size_t)length);
}

void gp_sink_string(struct gp_sink *sink, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = "\\u0000";
	const char *from = text;

	gp_sink_bytes(sink, "\"", 1);
	for (; *text; text++) {
		if ((unsigned char)*text >= ' ' && *text != '"' &&
		    *text != '\\')
			continue;
		gp_sink_bytes(sink, from, (size_t)(text - from));
		from = text + 1;
		escape[4] = hex[(unsigned char)*text >> 4];
		escape[5] = hex[(unsigned char)*text & 15];
		gp_sink_bytes(sink, escape, 6);
	}
	gp_sink_bytes(sink, from, (size_t)(text - from));
	gp_sink_bytes(sink, "\"", 1);
}

void gp_sink_field(struct gp_sink *sink, const char *key, uint64_t number)
{
	gp_sink_bytes(sink, ",\"", 2);
	gp_sink_put(sink, key);
	gp_sink_bytes(sink, "\":", 2);
	gp_sink_number(sink, number);
}
