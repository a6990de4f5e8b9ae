/* SPDX-License-Identifier: MIT */
/* Pages of the manual that are made of tables. */
#include "commands/mdoc.h"

#include <stdbool.h>
#include <string.h>

#define LINE 78 /* columns of a page's source */

void gp_mdoc_words(const char *text, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		bool is_end = length && text[length - 1] == '.';

		if (column && column + 1 + length > LINE) {
			putc('\n', out);
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
		column += length + (column != 0);
		text += length + (text[length] != 0);
		if (is_end && *text) { /* a sentence starts a line */
			putc('\n', out);
			column = 0;
		}
	}
	putc('\n', out);
}
