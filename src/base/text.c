/* SPDX-License-Identifier: MIT */
/* Texts: quoting for JSON, CSV and shells, Base64, choices of words. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/safe.h"
#include "base/utf8.h"

/* ---- quotes ---- */

/* Spreadsheets evaluate such a field as a formula, which may run anything. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@", *text);
}

/* CSV has no escapes. The caller frees it. */
static char *safe_copy(const char *text)
{
	size_t room = strlen(text) + 1;
	char *safe = gp_mem_alloc(room, 1);

	gp_safe_text(text, safe, room);
	return safe;
}

static void quote(const char *text, FILE *out)
{
	putc('"', out);
	if (is_formula(text))
		putc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

void gp_quote_csv(const char *text, FILE *out)
{
	char *safe = safe_copy(text);

	quote(safe, out);
	free(safe);
}

void gp_quote_csv_field(const char *text, FILE *out)
{
	char *safe = safe_copy(text);

	if (safe[strcspn(safe, ",\"")] || is_formula(safe))
		quote(safe, out);
	else
		fputs(safe, out);
	free(safe);
}

/* UTF-16, as JSON's escapes are. */
static void put_code(uint32_t code, FILE *out)
{
	if (code < 0x10000) {
		fprintf(out, "\\u%04x", code);
		return;
	}
	code -= 0x10000;
	fprintf(out, "\\u%04x\\u%04x", 0xd800 | code >> 10,
		0xdc00 | (code & 0x3ff));
}

void gp_quote_json(const char *text, size_t length, FILE *out)
{
	size_t bytes;
	uint32_t code;

	putc('"', out);
	for (; length; text += bytes, length -= bytes) {
		unsigned char c = (unsigned char)*text;

		bytes = gp_utf8_character(text, length);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f ||
			 (c == '#' && length > 1 && text[1] == '#'))
			put_code(c, out);
		else if (bytes > 1 && gp_safe_hides(text, bytes, &code))
			put_code(code, out);
		else if (bytes)
			fwrite(text, 1, bytes, out);
		else
			fputs("\\ufffd", out);
		bytes += !bytes;
	}
	putc('"', out);
}

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_-./:,=+@%";

const char *gp_quote_shell(const char *text, char *word, size_t size)
{
	size_t n = 0;

	if (*text && !text[strspn(text, plain)]) {
		snprintf(word, size, "%s", text);
		return word;
	}
	/* A quote ends the quoted text, is escaped, and starts it again. */
	word[n++] = '\'';
	for (; *text && n + 6 < size; text++) {
		if (*text == '\'')
			n += (size_t)snprintf(word + n, size - n, "'\\''");
		else
			word[n++] = *text;
	}
	word[n++] = '\'';
	word[n] = '\0';
	return word;
}

/* ---- the order of names ---- */

/* The digits of the number at *at without leading zeros; advances *at past
 * them. */
static size_t number_at(const char **at, const char *end, const char **digits)
{
	while (*at < end && **at == '0')
		++*at;
	*digits = *at;
	while (*at < end && gp_is_digit(**at))
		++*at;
	return (size_t)(*at - *digits);
}

static int by_bytes(const char *a, size_t a_length, const char *b,
		    size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

int gp_natural_order(const char *a, size_t a_length, const char *b,
		     size_t b_length)
{
	const char *x = a, *x_end = a + a_length;
	const char *y = b, *y_end = b + b_length;

	while (x < x_end && y < y_end) {
		const char *m, *n;
		size_t m_length, n_length;
		int order;

		if (!gp_is_digit(*x) || !gp_is_digit(*y)) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y
					       ? -1
					       : 1;
			x++;
			y++;
			continue;
		}
		m_length = number_at(&x, x_end, &m);
		n_length = number_at(&y, y_end, &n);
		if (m_length != n_length)
			return m_length < n_length ? -1 : 1;
		order = memcmp(m, n, m_length);
		if (order)
			return order;
	}
	if (x < x_end || y < y_end)
		return x < x_end ? 1 : -1;
	/* They differ only in leading zeros, if at all. */
	return by_bytes(a, a_length, b, b_length);
}

/* ---- Base64 ---- */

void gp_base64_put(const void *bytes, size_t count, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij"
				     "klmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t word = (uint32_t)at[i] << 16;

		word |= left > 1 ? (uint32_t)at[i + 1] << 8 : 0;
		word |= left > 2 ? at[i + 2] : 0;
		putc(digits[word >> 18], out);
		putc(digits[word >> 12 & 63], out);
		putc(left > 1 ? digits[word >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[word & 63] : '=', out);
	}
}

/* ---- words ---- */

uint32_t gp_word_index(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (uint32_t i = 0;; i++) {
		size_t end = strcspn(words, "|");

		if (end == length && !memcmp(words, word, length))
			return i;
		if (!words[end])
			return UINT32_MAX;
		words += end + 1;
	}
}
