/* SPDX-License-Identifier: MIT */
/*
 * Texts of strangers (names in traces and reports, files, what libraries say),
 * made safe for a terminal and for the log of a build.  What could do more
 *there than be read becomes "?":
 *
 *	control characters, also those of U+0080 to U+009F, and line separators;
 *	what turns the direction of writing (bidi), so that a line reads as it
 *	is; bytes that are no UTF-8;
 *	"##[" and "##vso[", and "::" before a name and another "::", by which
 *	lines of a log command GitHub's and Azure's runners;
 *	"##teamcity[" likewise.
 */
#ifndef BASE_SAFE_H
#define BASE_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One line, its NUL put behind it; cut off at room - 1 bytes. */
const char *gp_safe_text(const char *text, char *out, size_t room);

/* The same onto a stream. */
void gp_safe_put(const char *text, FILE *out);

/* Whether a character of UTF-8, of so many bytes, is one that is not shown; its
 * code in any case. */
bool gp_safe_hides(const char *at, size_t bytes, uint32_t *code);

/*
 * A stream that makes each line that is written to it safe and passes it on;
 * colours (ESC [ ... m) pass.  Closing it does not close under.
 */
FILE *gp_safe_stream(FILE *under);

#endif
