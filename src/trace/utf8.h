/*
 * Texts that can be written as JSON and read back the same: UTF-8, no NULs.
 */
#ifndef TRACE_UTF8_H
#define TRACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True for valid UTF-8 (RFC 3629) without NULs. */
bool gp_utf8_is_clean(const char *text, size_t length);

/*
 * Copies, each byte that is not part of such a text becoming U+FFFD.  out has
 * room for 3 * length bytes; returns the bytes written.
 */
size_t gp_utf8_clean(const char *text, size_t length, char *out);

#endif
