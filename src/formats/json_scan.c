/* SPDX-License-Identifier: MIT */
/* The outer structure of a JSON text: RFC 8259, section 2. */
#include "formats/json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ITEM_BYTES (16u << 20) /* most bytes of one event, segment or text */
#define DEPTH	   200	       /* most nested brackets */
#define AHEAD	   8192	       /* more than almost any event has */

void gp_json_scan_init(struct gp_json_scan *scan, struct gp_source *source,
		       struct gp_diag *diag)
{
	*scan = (struct gp_json_scan){ .source = source, .diag = diag };
}

void gp_json_scan_release(struct gp_json_scan *scan)
{
	free(scan->kept);
}

static void fail_at(struct gp_json_scan *scan, uint64_t byte, const char *what)
{
	if (scan->status)
		return;
	gp_diag_record(scan->diag, "line %" PRIu64 ", byte %" PRIu64,
		       scan->line + 1, byte);
	gp_diag_hint(scan->diag, "is it JSON, and complete?");
	scan->status = gp_diag_set(scan->diag, GP_INPUT, "%s", what);
}

/* Fails with the record "line L, byte N", the source's position. */
static void fail(struct gp_json_scan *scan, const char *what)
{
	fail_at(scan, gp_source_offset(scan->source), what);
}

static bool more(struct gp_json_scan *scan)
{
	if (gp_source_more(scan->source))
		return true;
	if (!scan->status)
		scan->status = scan->source->status;
	return false;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

int gp_json_peek(struct gp_json_scan *scan)
{
	struct gp_source *s = scan->source;

	if (scan->status)
		return -1;
	if (s->at<s->end && * s->at> ' ')
		return *s->at;
	do {
		for (; s->at < s->end; s->at++) {
			if (!is_space(*s->at))
				return *s->at;
			scan->line += *s->at == '\n';
		}
	} while (more(scan));
	return -1;
}

const unsigned char *gp_json_ahead(struct gp_json_scan *scan)
{
	struct gp_source *s = scan->source;

	if (scan->status || s->config->by_jansson)
		return NULL;
	if (s->end - s->at < AHEAD && !gp_source_need(s, AHEAD))
		scan->status = s->status;
	return gp_json_peek(scan) < 0 ? NULL : s->at;
}

void gp_json_expect_end(struct gp_json_scan *scan)
{
	if (gp_json_peek(scan) >= 0)
		fail(scan, "there is more after its end");
}

/* ---- walking ---- */

static bool expect(struct gp_json_scan *scan, char c)
{
	char what[] = "a 'x' is missing here";
	int next = gp_json_peek(scan);

	if (next == c) {
		scan->source->at++;
		return true;
	}
	what[3] = c;
	fail(scan, next < 0 ? "it ends too early" : what);
	return false;
}

bool gp_json_enter(struct gp_json_scan *scan, char open,
		   struct gp_json_walk *walk)
{
	*walk = (struct gp_json_walk){ .close = open == '{' ? '}' : ']' };
	return expect(scan, open);
}

bool gp_json_next(struct gp_json_scan *scan, struct gp_json_walk *walk)
{
	bool is_first = !walk->has_begun;

	walk->has_begun = true;
	if (gp_json_peek(scan) == walk->close) {
		scan->source->at++;
		return false;
	}
	if (scan->status)
		return false;
	return is_first || expect(scan, ',');
}

/* ---- the meaning of jansson's values ---- */

bool gp_json_number(const json_t *value, uint64_t *number)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!json_is_string(value) ||
	    json_string_value(value)[0] != GP_JSON_WIDE)
		return false;
	*number = strtoull(json_string_value(value) + 1, NULL, 10);
	return true;
}

bool gp_json_pool(const json_t *value, struct gp_pool_id *pool)
{
	return json_is_array(value) && json_array_size(value) == 2 &&
	       gp_json_number(json_array_get(value, 0), &pool->first) &&
	       gp_json_number(json_array_get(value, 1), &pool->second);
}

const char *gp_json_show(const json_t *value, char text[GP_JSON_SHOWN])
{
	uint64_t number;
	char *dump;

	if (gp_json_number(value, &number)) {
		snprintf(text, GP_JSON_SHOWN, "%llu",
			 (unsigned long long)number);
		return text;
	}
	if (json_is_object(value) || json_is_array(value))
		return json_is_object(value) ? "an object" : "a list";
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (dump && strlen(dump) < GP_JSON_SHOWN)
		snprintf(text, GP_JSON_SHOWN, "%s", dump);
	else
		snprintf(text, GP_JSON_SHOWN, "a long text");
	free(dump);
	return text;
}

/* ---- cutting out a value ---- */

struct cut {
	struct gp_json_scan *scan;
	bool is_kept; /* else skipped */
	unsigned depth;
};

static bool keep(struct cut *cut, const void *bytes, size_t n)
{
	struct gp_json_scan *scan = cut->scan;

	if (!cut->is_kept)
		return true;
	if (n > ITEM_BYTES - scan->length) {
		fail_at(scan, scan->start, "a single item of more than 16 MiB");
		return false;
	}
	GP_GROW(scan->kept, scan->length + n + 32, scan->room);
	memcpy(scan->kept + scan->length, bytes, n);
	scan->length += n;
	return true;
}

static bool cut_string(struct cut *cut)
{
	struct gp_source *s = cut->scan->source;
	bool is_escaped = false, is_closed = false;

	if (!keep(cut, s->at++, 1))
		return false;
	while (!is_closed) {
		const unsigned char *from = s->at;

		while (s->at < s->end && !is_closed) {
			unsigned char c = *s->at++;

			is_closed = c == '"' && !is_escaped;
			is_escaped = c == '\\' && !is_escaped;
		}
		if (!keep(cut, from, (size_t)(s->at - from)))
			return false;
		if (!is_closed && !more(cut->scan)) {
			fail(cut->scan, "it ends inside a string");
			return false;
		}
	}
	return true;
}

static bool is_wide(const char *digits, size_t length)
{
	static const char above[] = "9223372036854775808"; /* 2^63 */
	static const char most[] = "18446744073709551615";

	if (digits[0] == '0' || length < sizeof(above) - 1 ||
	    length > sizeof(most) - 1)
		return false;
	for (size_t i = 0; i < length; i++)
		if (digits[i] < '0' || digits[i] > '9')
			return false;
	if (length < sizeof(most) - 1)
		return memcmp(digits, above, length) >= 0;
	return memcmp(digits, most, length) <= 0;
}

/* Converts the literal that begins at kept[at] to a string, if it is a number
 * from 2^63 to 2^64 - 1. */
static void widen(struct gp_json_scan *scan, size_t at)
{
	size_t length = scan->length - at;
	char *digits = scan->kept + at; /* keep() leaves room for three */

	if (!is_wide(digits, length))
		return;
	memmove(digits + 2, digits, length);
	digits[0] = digits[length + 2] = '"';
	digits[1] = GP_JSON_WIDE;
	scan->length += 3;
}

static bool ends_literal(int c)
{
	return is_space(c) || c == ',' || c == ':' || c == '"' || c == '[' ||
	       c == ']' || c == '{' || c == '}';
}

static bool cut_literal(struct cut *cut)
{
	struct gp_source *s = cut->scan->source;
	size_t start = cut->scan->length;
	const unsigned char *from;

	do {
		from = s->at;
		while (s->at < s->end && !ends_literal(*s->at))
			s->at++;
		if (!keep(cut, from, (size_t)(s->at - from)))
			return false;
	} while (s->at == s->end && more(cut->scan));
	if (cut->scan->status)
		return false;
	if (cut->is_kept)
		widen(cut->scan, start);
	return true;
}

static bool cut_bracket(struct cut *cut, int c)
{
	if (c == '{' || c == '[')
		cut->depth++;
	else
		cut->depth--;
	if (cut->depth > DEPTH) {
		fail(cut->scan, "brackets are nested too deeply");
		return false;
	}
	return keep(cut, cut->scan->source->at++, 1);
}

/* Reduces white space between two tokens to a single space. */
static bool cut_token(struct cut *cut)
{
	struct gp_json_scan *scan = cut->scan;
	uint64_t before = gp_source_offset(scan->source);
	int c = gp_json_peek(scan);
	bool has_space = gp_source_offset(scan->source) != before;

	if (c < 0) {
		fail(scan, "it ends inside a value");
		return false;
	}
	if (has_space && cut->depth && !keep(cut, " ", 1))
		return false;
	switch (c) {
	case '"': return cut_string(cut);
	case '{':
	case '[': return cut_bracket(cut, c);
	case '}':
	case ']':
	case ',':
	case ':':
		if (!cut->depth) {
			fail(scan, "a value is missing here");
			return false;
		}
		if (c == '}' || c == ']')
			return cut_bracket(cut, c);
		return keep(cut, scan->source->at++, 1);
	default: return cut_literal(cut);
	}
}

/* ---- values that can be used in the window, unchanged ---- */

/* Returns the end of the string that begins here; NULL: it is not plain, or not
 * all in the window. */
static const unsigned char *pass_string(const unsigned char *at)
{
	for (at = gp_plain_run(at + 1); *at != '"'; at = gp_plain_run(at + 1)) {
		at += *at == '\\';
		if (!*at)
			return NULL;
	}
	return at + 1;
}

/* Skips a number that needs no conversion, or a literal name, up to what ends
 * it. */
static const unsigned char *pass_literal(const unsigned char *at)
{
	const unsigned char *from = at;

	while (*at && !ends_literal(*at))
		at++;
	return *at && at - from < 19 ? at : NULL;
}

/*
 * Returns the end of the value that begins here, if its tokens are separated by
 * single spaces at most; NULL: it has to be cut out. The zeros after the window
 * end every token.
 */
static const unsigned char *pass_value(const unsigned char *at)
{
	unsigned depth = 0;

	do {
		at += depth && *at == ' ';
		switch (*at) {
		case '"': at = pass_string(at); break;
		case '{':
		case '[': at = ++depth > DEPTH ? NULL : at + 1; break;
		case '}':
		case ']': at = depth-- ? at + 1 : NULL; break;
		case ',':
		case ':': at = depth ? at + 1 : NULL; break;
		case ' ':
		case '\n':
		case '\t':
		case '\r':
		case '\0': return NULL;
		default: at = pass_literal(at);
		}
	} while (at && depth);
	return at;
}

const unsigned char *gp_json_past(const struct gp_json_scan *scan,
				  const unsigned char *at)
{
	const unsigned char *end = pass_value(at);

	/* A value that ends with the window may continue beyond it. */
	if (!end || end >= scan->source->end || (size_t)(end - at) > ITEM_BYTES)
		return NULL;
	return end;
}

static bool cut_plain(struct gp_json_scan *scan)
{
	struct gp_source *s = scan->source;
	const unsigned char *end;

	if (s->config->by_jansson)
		return false;
	end = gp_json_past(scan, s->at);
	if (!end)
		return false;
	scan->item = (const char *)s->at;
	scan->length = (size_t)(end - s->at);
	s->at = end;
	return true;
}

static bool cut_value(struct gp_json_scan *scan, bool is_kept)
{
	struct cut cut = { .scan = scan, .is_kept = is_kept };

	scan->length = 0;
	if (gp_json_peek(scan) < 0)
		fail(scan, "it ends where a value should be");
	scan->start = gp_source_offset(scan->source);
	if (!scan->status && cut_plain(scan))
		return true;
	do {
		if (scan->status || !cut_token(&cut))
			return false;
	} while (cut.depth);
	scan->item = scan->kept;
	return true;
}

void gp_json_skip(struct gp_json_scan *scan)
{
	cut_value(scan, false);
}

bool gp_json_cut(struct gp_json_scan *scan)
{
	return cut_value(scan, true);
}

json_t *gp_json_parse(struct gp_json_scan *scan)
{
	size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL |
		       (scan->is_strict ? JSON_REJECT_DUPLICATES : 0);
	json_error_t error;
	json_t *value = json_loadb(scan->item, scan->length, flags, &error);

	if (!value)
		fail_at(scan, scan->start, error.text);
	if (!value && json_error_code(&error) == json_error_duplicate_key)
		gp_diag_hint(scan->diag,
			     "a key may occur only once in an object");
	return value;
}

bool gp_json_plain_scalar(struct gp_plain *p, struct gp_json_scalar *to)
{
	bool is_true;

	to->json = NULL;
	switch (*p->at) {
	case '"': to->kind = GP_JSON_TEXT; return gp_plain_string(p, &to->text);
	case '[': to->kind = GP_JSON_PAIR; return gp_plain_pair(p, &to->pair);
	case 't':
	case 'f':
		if (!gp_plain_flag(p, &is_true))
			return false;
		to->kind = is_true ? GP_JSON_TRUE : GP_JSON_FALSE;
		return true;
	default:
		to->kind = GP_JSON_NUMBER;
		return gp_plain_number(p, &to->number);
	}
}

void gp_json_scalar_of(json_t *json, struct gp_json_scalar *to)
{
	to->json = json;
	to->kind = GP_JSON_OTHER;
	if (gp_json_number(json, &to->number)) {
		to->kind = GP_JSON_NUMBER;
	} else if (gp_json_pool(json, &to->pair)) {
		to->kind = GP_JSON_PAIR;
	} else if (json_is_boolean(json)) {
		to->kind = json_is_true(json) ? GP_JSON_TRUE : GP_JSON_FALSE;
	} else if (json_is_string(json)) {
		to->kind = GP_JSON_TEXT;
		to->text.bytes = json_string_value(json);
		to->text.length = strlen(to->text.bytes);
	}
}

void gp_json_scalar(struct gp_json_scan *scan, struct gp_json_scalar *to)
{
	struct gp_plain p = { 0 };

	to->json = NULL;
	if (gp_json_peek(scan) >= 0 && !scan->source->config->by_jansson) {
		p.at = scan->source->at;
		if (gp_json_plain_scalar(&p, to) && p.at < scan->source->end &&
		    ends_literal(*p.at)) {
			scan->source->at = p.at;
			scan->line += p.lines;
			return;
		}
	}
	gp_json_scalar_of(gp_json_value(scan), to);
}

json_t *gp_json_value(struct gp_json_scan *scan)
{
	return gp_json_cut(scan) ? gp_json_parse(scan) : NULL;
}

/* Almost all keys are plain, with nothing to decode. */
static bool is_plain_key(const char *item, size_t length)
{
	for (size_t i = 1; i + 1 < length; i++)
		if (item[i] == '\\' || item[i] < ' ') /* or not ASCII */
			return false;
	return true;
}

static bool decode_key(struct gp_json_scan *scan, char key[GP_JSON_KEY_ROOM])
{
	json_t *value = gp_json_parse(scan);

	if (!value)
		return false;
	if (json_string_length(value) < GP_JSON_KEY_ROOM)
		memcpy(key, json_string_value(value),
		       json_string_length(value) + 1);
	json_decref(value);
	return true;
}

bool gp_json_next_key(struct gp_json_scan *scan, struct gp_json_walk *walk,
		      char key[GP_JSON_KEY_ROOM])
{
	if (!gp_json_next(scan, walk))
		return false;
	if (gp_json_peek(scan) != '"') {
		fail(scan, "a key is missing here");
		return false;
	}
	key[0] = '\0';
	if (!gp_json_cut(scan))
		return false;
	if (!is_plain_key(scan->item, scan->length)) {
		if (!decode_key(scan, key))
			return false;
	} else if (scan->length - 2 < GP_JSON_KEY_ROOM) {
		memcpy(key, scan->item + 1, scan->length - 2);
		key[scan->length - 2] = '\0';
	}
	return expect(scan, ':');
}
