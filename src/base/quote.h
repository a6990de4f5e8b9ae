/* SPDX-License-Identifier: MIT */
/* Texts as fields of CSV (RFC 4180). */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stdio.h>

/* In quotes, whether it needs them or not. */
void gp_quote_csv(const char *text, FILE *out);
/* In quotes where it needs them. */
void gp_quote_csv_field(const char *text, FILE *out);

#endif
