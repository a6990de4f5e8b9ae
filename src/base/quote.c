/* SPDX-License-Identifier: MIT */
/* Quoting for CSV. */
#include "base/quote.h"

#include <string.h>

void gp_quote_csv(const char *text, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

void gp_quote_csv_field(const char *text, FILE *out)
{
	if (text[strcspn(text, ",\"\r\n")])
		gp_quote_csv(text, out);
	else
		fputs(text, out);
}
