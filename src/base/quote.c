/* SPDX-License-Identifier: MIT */
/* Quoting for CSV and for shells. */
#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

/* A spreadsheet takes such a field for a formula, which may do anything. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text);
}

void gp_quote_csv(const char *text, FILE *out)
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

void gp_quote_csv_field(const char *text, FILE *out)
{
	if (text[strcspn(text, ",\"\r\n")] || is_formula(text))
		gp_quote_csv(text, out);
	else
		fputs(text, out);
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
	/* A quote ends what is quoted, stands by itself and begins it anew. */
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
