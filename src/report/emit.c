/* SPDX-License-Identifier: MIT */
/* JSON onto a stream, one key a line, or one container on one line. */
#include "report/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/safe.h"
#include "base/utf8.h"

static void put_code(FILE *out, uint32_t code)
{
	if (code < 0x10000) {
		fprintf(out, "\\u%04x", code);
		return;
	}
	code -= 0x10000;
	fprintf(out, "\\u%04x\\u%04x", 0xd800 | code >> 10,
		0xdc00 | (code & 0x3ff));
}

/* What a terminal or a log would act on is escaped. */
static void put_string(FILE *out, const char *text)
{
	size_t left = strlen(text), bytes;
	uint32_t code;

	putc('"', out);
	for (; left; text += bytes, left -= bytes) {
		unsigned char c = (unsigned char)*text;

		bytes = gp_utf8_character(text, left);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f || (c == '#' && text[1] == '#'))
			fprintf(out, "\\u%04x", c);
		else if (bytes > 1 && gp_safe_hides(text, bytes, &code))
			put_code(out, code);
		else if (bytes)
			fwrite(text, 1, bytes, out);
		else
			fputs("\\ufffd", out);
		bytes += !bytes;
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
