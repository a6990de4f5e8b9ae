/* SPDX-License-Identifier: MIT */
/*
 * Texts that can be written as JSON and read back the same: UTF-8, no NULs.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
