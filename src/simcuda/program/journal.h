/* SPDX-License-Identifier: MIT */
/*
 * A file that survives its writer: what was written is kept however the process
 * ends, as the pages of a shared mapping belong to the kernel. Until it is
 * closed, the file ends in zeros.
 */
#ifndef SIMCUDA_PROGRAM_JOURNAL_H
#define SIMCUDA_PROGRAM_JOURNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* false: the file cannot be created, or exists; then the others do nothing. */
bool journal_open(const char *path);
void journal_put(const char *text, size_t length);
/* A text as within a JSON string: without control characters, and with "?" for
 * each byte that is not UTF-8, as one such byte makes a file unreadable. */
void journal_put_escaped(const char *text);
void journal_close(void);

/* Formats like vsnprintf, several times as fast, for the few conversions used
 * in events: %s, %c, %d, %u, %lu and %%. The text is not terminated. Returns 0
 * for any other conversion, or if there is no room; the arguments then need
 * another copy. */
size_t print_fast(char *to, size_t room, const char *format, va_list arguments);

#endif
