/* SPDX-License-Identifier: MIT */
/* Texts inside JSON (RFC 8259). */
#include "report/exchange/text.h"

void text_json(FILE *out, const char *text, size_t length)
{
	putc('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}
