/* SPDX-License-Identifier: MIT */
/* Untrusted texts, made safe for a terminal and a log. */
#include "base/safe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"
#include "base/utf8.h"

#define HIDDEN '?'

/* ---- characters ---- */

static uint32_t code_of(const char *at, size_t bytes)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (unsigned char)*at & masks[bytes];

	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	return code;
}

static bool is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },	      { 0x7f, 0x9f },
		{ 0x061c, 0x061c },   { 0x200e, 0x200f }, /* text direction */
		{ 0x2028, 0x202e },   /* separators, and text direction */
		{ 0x2066, 0x2069 },   /* text direction */
		{ 0xfeff, 0xfeff },   /* no width */
		{ 0xe0000, 0xe007f }, /* tags, which are invisible */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* What a CI runner skips before a command. */
static bool is_space(uint32_t code)
{
	return code == ' ' || code == 0xa0 || code == 0x1680 ||
	       (code >= 0x2000 && code <= 0x200a) || code == 0x202f ||
	       code == 0x205f || code == 0x3000;
}

/* The length of a colour sequence such as "\033[1;31m", as written by this
 * program; 0: there is none. */
static size_t colour_at(const char *at, size_t length)
{
	size_t n = 2;

	if (length < 3 || at[0] != '\033' || at[1] != '[')
		return 0;
	while (n < length && (at[n] == ';' || (at[n] >= '0' && at[n] <= '9')))
		n++;
	return n < length && at[n] == 'm' ? n + 1 : 0;
}

/* ---- commands in logs ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* GitHub accepts "::name::" at the beginning of a line, which may be anywhere
 * once lines are wrapped. In a C++ name no space follows the first "::name". */
static bool is_workflow_command(const char *at, size_t length, bool is_first)
{
	size_t n = 2;

	if (!is_first || length < 5 || at[0] != ':' || at[1] != ':' ||
	    !is_letter(at[2]))
		return false;
	for (; n + 1 < length; n++)
		if (at[n] == ':' && at[n + 1] == ':')
			return true;
	return false;
}

/* "##[", "##vso[" and "##teamcity[", anywhere in a line. */
static bool is_bracket_command(const char *at, size_t length)
{
	size_t n = 2;

	if (length < 3 || at[0] != '#' || at[1] != '#')
		return false;
	while (n < length && is_letter(at[n]))
		n++;
	return n < length && at[n] == '[';
}

/* ---- a line ---- */

/* Writes length bytes of text to out, which has room for as many; returns the
 * number written. */
static size_t make_safe(const char *text, size_t length, bool keeps_colours,
			char *out)
{
	bool is_first = true; /* of a word */
	size_t n = 0, bytes;

	for (size_t i = 0; i < length; i += bytes) {
		const char *at = text + i;
		size_t left = length - i;

		bytes = keeps_colours ? colour_at(at, left) : 0;
		if (bytes) {
			memmove(out + n, at, bytes);
			n += bytes;
			continue;
		}
		bytes = gp_utf8_character(at, left);
		if (!bytes || is_hidden(code_of(at, bytes)) ||
		    is_bracket_command(at, left) ||
		    is_workflow_command(at, left, is_first)) {
			bytes += !bytes;
			out[n++] = HIDDEN;
			is_first = false;
			continue;
		}
		is_first = is_space(code_of(at, bytes));
		memmove(out + n, at, bytes);
		n += bytes;
	}
	return n;
}

bool gp_safe_hides(const char *at, size_t bytes, uint32_t *code)
{
	*code = code_of(at, bytes);
	return is_hidden(*code);
}

const char *gp_safe_text(const char *text, char *out, size_t room)
{
	size_t length = strlen(text);

	if (length > room - 1)
		length = room - 1;
	out[make_safe(text, length, false, out)] = '\0';
	return out;
}

void gp_safe_put(const char *text, FILE *out)
{
	size_t length = strlen(text);
	char *safe = gp_mem_alloc(length + 1, 1);

	fwrite(safe, 1, make_safe(text, length, false, safe), out);
	free(safe);
}

/* ---- a stream ---- */

/* A line may come in several writes: it is kept until it ends. */
struct safe {
	FILE *under;
	char *line;
	size_t size, room;
};

static bool put_line(struct safe *safe)
{
	size_t n = make_safe(safe->line, safe->size, true, safe->line);

	safe->size = 0;
	return !n || fwrite(safe->line, 1, n, safe->under) == n;
}

static ssize_t write_safe(void *cookie, const char *bytes, size_t size)
{
	struct safe *safe = cookie;

	for (size_t at = 0; at < size;) {
		const char *end = memchr(bytes + at, '\n', size - at);
		size_t n = end ? (size_t)(end - (bytes + at)) : size - at;

		GP_GROW(safe->line, safe->size + n + 1, safe->room);
		memcpy(safe->line + safe->size, bytes + at, n);
		safe->size += n;
		at += n;
		if (!end)
			break;
		at++;
		if (!put_line(safe) || putc('\n', safe->under) == EOF)
			return 0;
	}
	return (ssize_t)size;
}

static int close_safe(void *cookie)
{
	struct safe *safe = cookie;
	bool is_good = !safe->size || put_line(safe);

	free(safe->line);
	free(safe);
	return is_good ? 0 : EOF;
}

FILE *gp_safe_stream(FILE *under)
{
	static const cookie_io_functions_t calls = { .write = write_safe,
						     .close = close_safe };
	struct safe *safe = gp_mem_alloc(1, sizeof(*safe));
	FILE *stream;

	safe->under = under;
	stream = fopencookie(safe, "w", calls);
	if (!stream)
		gp_mem_end();
	return stream;
}
