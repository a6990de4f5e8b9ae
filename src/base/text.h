/* SPDX-License-Identifier: MIT */
/* Texts: UTF-8, quotes for CSV and for shells, Base64, words to choose from. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Texts that can be written as JSON and read back the same: UTF-8, no NULs.
 */

/* Bytes of the character that text begins with; 0: it is none, or NUL. */
size_t gp_utf8_character(const char *text, size_t length);

/* Writes it, or "?" in the place of what makes a reader of XML refuse the whole
 * file: a byte of no character, control characters but for tabs and line ends,
 * U+FFFE and U+FFFF.  Returns how many bytes were passed; length is not 0. */
size_t gp_utf8_put_xml(const char *text, size_t length, FILE *out);

/* True for valid UTF-8 (RFC 3629) without NULs. */
bool gp_utf8_is_clean(const char *text, size_t length);

/*
 * Copies, each byte that is not part of such a text becoming U+FFFD.  out has
 * room for 3 * length bytes; returns the bytes written.
 */
size_t gp_utf8_clean(const char *text, size_t length, char *out);

/*
 * Fields of CSV (RFC 4180).  One that a spreadsheet would take for a formula
 * (= + - @) begins with a quote '.
 */

/* In quotes, whether it needs them or not. */
void gp_quote_csv(const char *text, FILE *out);
/* In quotes where it needs them. */
void gp_quote_csv_field(const char *text, FILE *out);

/* One word of a POSIX shell: in quotes where it needs them.  What does not fit
 * is cut off. */
const char *gp_quote_shell(const char *text, char *word, size_t size);

/* Bytes in Base64: RFC 4648, with padding, on one line. */
void gp_base64_put(const void *bytes, size_t count, FILE *out);

/* Of the words "a|b|c", as tables of options have them, which one a word is,
 * from 0; UINT32_MAX: none. */
uint32_t gp_word_index(const char *words, const char *word);

#endif
