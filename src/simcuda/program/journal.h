/* SPDX-License-Identifier: MIT */
/*
 * A file that survives its writer: what was put is kept however the process
 * ends, because pages of a shared mapping are the kernel's.  Until it is closed
 * the file ends in zeros.
 */
#ifndef SIMCUDA_PROGRAM_JOURNAL_H
#define SIMCUDA_PROGRAM_JOURNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* false: it cannot be made, or is there; then the others do nothing. */
bool journal_open(const char *path);
void journal_put(const char *text, size_t length);
void journal_close(void);

/* printf's few conversions that events are made of, several times as fast. */
/* As vsnprintf, of text without a NUL after it; %s, %c, %d, %u, %lu and %%
 * alone.  0: another conversion, or no room; arguments are to be used again
 * from a copy. */
size_t print_fast(char *to, size_t room, const char *format, va_list arguments);

#endif
