/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 without NULs: texts that survive being written as JSON or XML and read
 * back.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The bytes of the first character of text; 0 if it is invalid, or NUL. */
size_t gp_utf8_character(const char *text, size_t length);

/* Writes the first character, or "?" for what an XML parser would reject:
 * invalid bytes, control characters except tabs and line ends, U+FFFE and
 * U+FFFF. Returns the number of bytes consumed; length is not 0. */
size_t gp_utf8_put_xml(const char *text, size_t length, FILE *out);

/* True for valid UTF-8 (RFC 3629) without NULs. */
bool gp_utf8_is_clean(const char *text, size_t length);

/* The bytes of the whole characters of a text that fit into so many; as two
 * arguments for "%.*s". */
int gp_utf8_within(const char *text, size_t most);
#define GP_WITHIN(most, text) gp_utf8_within((text), (most)), (text)

/*
 * Copies text, replacing each byte that is not part of valid UTF-8, and each
 * NUL, by U+FFFD. out has room for 3 * length bytes; returns the bytes written.
 */
size_t gp_utf8_clean(const char *text, size_t length, char *out);

#endif
