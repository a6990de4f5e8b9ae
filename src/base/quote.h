/* SPDX-License-Identifier: MIT */
/* Texts as fields of CSV (RFC 4180), and as words of a shell.  A field that a
 * spreadsheet would take for a formula (= + - @) begins with a quote '. */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/* In quotes, whether it needs them or not. */
void gp_quote_csv(const char *text, FILE *out);
/* In quotes where it needs them. */
void gp_quote_csv_field(const char *text, FILE *out);

/* One word of a POSIX shell: in quotes where it needs them.  What does not fit
 * is cut off. */
const char *gp_quote_shell(const char *text, char *word, size_t size);

#endif
