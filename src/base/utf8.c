/* SPDX-License-Identifier: MIT */
/* UTF-8 as in RFC 3629: no overlong forms, no surrogates. */
#include "base/utf8.h"

#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool is_in(unsigned char byte, unsigned char low, unsigned char high)
{
	return byte >= low && byte <= high;
}

size_t gp_utf8_character(const char *at, size_t length)
{
	const unsigned char *text = (const unsigned char *)at;
	unsigned char lead = text[0], low = 0x80, high = 0xbf;
	size_t bytes, i;

	if (is_in(lead, 0x01, 0x7f))
		return 1;
	bytes = is_in(lead, 0xc2, 0xdf)	  ? 2
		: is_in(lead, 0xe0, 0xef) ? 3
		: is_in(lead, 0xf0, 0xf4) ? 4
					  : 0;
	if (!bytes || length < bytes)
		return 0;
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (!is_in(text[1], low, high))
		return 0;
	for (i = 2; i < bytes; i++)
		if (!is_in(text[i], 0x80, 0xbf))
			return 0;
	return bytes;
}

/* Whether XML permits the character. */
static bool is_of_xml(const char *text, size_t bytes)
{
	unsigned char first = (unsigned char)*text;

	if (first < 0x20)
		return first == '\t' || first == '\n' || first == '\r';
	return bytes != 3 || (memcmp(text, "\xef\xbf\xbe", 3) != 0 &&
			      memcmp(text, "\xef\xbf\xbf", 3) != 0);
}

size_t gp_utf8_put_xml(const char *text, size_t length, FILE *out)
{
	size_t bytes = gp_utf8_character(text, length);

	if (bytes && is_of_xml(text, bytes))
		fwrite(text, 1, bytes, out);
	else
		putc('?', out);
	return bytes ? bytes : 1;
}

bool gp_utf8_is_clean(const char *text, size_t length)
{
	size_t bytes;

	for (; length; text += bytes, length -= bytes) {
		bytes = gp_utf8_character(text, length);
		if (!bytes)
			return false;
	}
	return true;
}

int gp_utf8_within(const char *text, size_t most)
{
	size_t n = strnlen(text, most);

	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

size_t gp_utf8_clean(const char *text, size_t length, char *out)
{
	const size_t mark = sizeof(replacement) - 1;
	const char *end = text + length;
	char *to = out;
	size_t bytes;

	while (text < end) {
		bytes = gp_utf8_character(text, (size_t)(end - text));
		memcpy(to, bytes ? text : replacement, bytes ? bytes : mark);
		to += bytes ? bytes : mark;
		text += bytes ? bytes : 1;
	}
	return (size_t)(to - out);
}
