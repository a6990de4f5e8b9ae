/* SPDX-License-Identifier: MIT */
/* Texts: quoting for JSON, CSV and shells, the order of names, Base64, choices
 * of words. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Fields of CSV (RFC 4180). A field that a spreadsheet would evaluate as a
 * formula (= + - @) is prefixed with a quote '. What a terminal or a log would
 * interpret becomes "?" (base/safe.h).
 */

/* Always quoted. */
void gp_quote_csv(const char *text, FILE *out);
/* Quoted only where necessary. */
void gp_quote_csv_field(const char *text, FILE *out);

/* A string of JSON (RFC 8259), in quotes. What a terminal or a log would
 * interpret is escaped (base/safe.h); a byte that is not UTF-8 becomes U+FFFD.
 */
void gp_quote_json(const char *text, size_t length, FILE *out);

/* One word of a POSIX shell, quoted only where necessary. Cut off if it does
 * not fit. */
const char *gp_quote_shell(const char *text, char *word, size_t size);

/* Whatever the locale, and for any char. */
static inline bool gp_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Compares names as people order them: numbers in them by value, so that rank_2
 * precedes rank_10. 0 only for the same bytes. */
int gp_natural_order(const char *a, size_t a_length, const char *b,
		     size_t b_length);

/* Bytes in Base64: RFC 4648, with padding, on one line. */
void gp_base64_put(const void *bytes, size_t count, FILE *out);

/* The index of a word in the list "a|b|c", as in tables of options; UINT32_MAX:
 * it is not in the list. */
uint32_t gp_word_index(const char *words, const char *word);

#endif
