/* SPDX-License-Identifier: MIT */
/*
 * Untrusted texts (names in traces and reports, files, messages of libraries),
 * made safe for a terminal and for a build log. What could have an effect there
 * is replaced by "?":
 *
 *	control characters, including U+0080 to U+009F, and line separators;
 *	characters that change the text direction (bidi), so that a line is
 *	shown as it is; bytes that are not UTF-8;
 *	"##[" and "##vso[", and "::" before a name and another "::", which the
 *	runners of GitHub and Azure take for commands;
 *	"##teamcity[" likewise.
 */
#ifndef BASE_SAFE_H
#define BASE_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One line, terminated with a NUL; cut off at room - 1 bytes. */
const char *gp_safe_text(const char *text, char *out, size_t room);

/* The same, written to a stream. */
void gp_safe_put(const char *text, FILE *out);

/* Whether a UTF-8 character of that many bytes is invisible; sets *code to its
 * code point in either case. */
bool gp_safe_hides(const char *at, size_t bytes, uint32_t *code);

/*
 * A stream that makes each line written to it safe and passes it on; colours
 * (ESC [ ... m) are kept. Closing it does not close `under`.
 */
FILE *gp_safe_stream(FILE *under);

#endif
