/* SPDX-License-Identifier: MIT */
/* printf's few conversions that events are made of, several times as fast. */
#ifndef SIMCUDA_PROGRAM_PRINT_H
#define SIMCUDA_PROGRAM_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf, of text without a NUL after it; %s, %c, %d, %u, %lu and %%
 * alone.  0: another conversion, or no room; arguments are to be used again
 * from a copy. */
size_t print_fast(char *to, size_t room, const char *format, va_list arguments);

#endif
