/* JSON onto a stream, one key a line, or one container on one line. */
#include "report/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at text, or 0 if it is none (RFC 3629). */
static size_t utf8_length(const unsigned char *text)
{
	size_t length = text[0] < 0x80			     ? 1
			: text[0] >= 0xc2 && text[0] <= 0xdf ? 2
			: text[0] >= 0xe0 && text[0] <= 0xef ? 3
			: text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
							     : 0;

	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', out);
	while (*at) {
		size_t length = utf8_length(at);

		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else if (length)
			fwrite(at, 1, length, out);
		else
			fputs("\\ufffd", out);
		at += length ? length : 1;
	}
	putc('"', out);
}

static bool is_flat(const struct gp_emit *json)
{
	return json->flat_depth && json->depth >= json->flat_depth;
}

static void new_line(struct gp_emit *json)
{
	putc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		putc(' ', json->out);
}

/* What stands before a value. */
static void put_key(struct gp_emit *json, const char *key)
{
	if (json->has_items)
		putc(',', json->out);
	if (json->depth && !is_flat(json))
		new_line(json);
	else if (json->has_items)
		putc(' ', json->out);
	if (key) {
		put_string(json->out, key);
		fputs(": ", json->out);
	}
	json->has_items = true;
}

void gp_emit_open(struct gp_emit *json, const char *key, char bracket,
		  enum gp_emit_shape shape)
{
	put_key(json, key);
	putc(bracket, json->out);
	json->depth++;
	if (shape == GP_EMIT_FLAT && !json->flat_depth)
		json->flat_depth = json->depth;
	json->has_items = false;
}

void gp_emit_close(struct gp_emit *json, char bracket)
{
	bool flat = is_flat(json);

	if (json->flat_depth == json->depth)
		json->flat_depth = 0;
	json->depth--;
	if (!flat && json->has_items)
		new_line(json);
	putc(bracket, json->out);
	json->has_items = true;
	if (!json->depth)
		putc('\n', json->out);
}

struct gp_emit gp_emit_begin(const char *schema, FILE *out)
{
	struct gp_emit json = { .out = out };

	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(&json, "schema", schema);
	return json;
}

void gp_emit_uint(struct gp_emit *json, const char *key, uint64_t value)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void gp_emit_int(struct gp_emit *json, const char *key, int64_t value)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void gp_emit_ratio(struct gp_emit *json, const char *key, double value)
{
	put_key(json, key);
	fprintf(json->out, "%.6f", value);
}

void gp_emit_real(struct gp_emit *json, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	put_key(json, key);
	fputs(text, json->out);
}

void gp_emit_bool(struct gp_emit *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void gp_emit_text(struct gp_emit *json, const char *key, const char *text)
{
	if (!text) {
		gp_emit_null(json, key);
		return;
	}
	put_key(json, key);
	put_string(json->out, text);
}

void gp_emit_null(struct gp_emit *json, const char *key)
{
	put_key(json, key);
	fputs("null", json->out);
}
