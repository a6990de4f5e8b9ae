/* SPDX-License-Identifier: MIT */
/*
 * Host memory.  Never returns NULL: when there is none the run ends, with a
 * message and exit code 4.  Callers bound n by what they have read, never by
 * what a file claims.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* Zeroed; ends the run when n * size overflows. */
void *gp_mem_alloc(size_t n, size_t size);

/*
 * Makes room for at least need items, doubling; returns the (moved) array and
 * updates *room.  New items are not zeroed.
 */
void *gp_mem_grow(void *items, size_t *room, size_t need, size_t size);

/* Gives back what gp_mem_grow holds beyond n items; keeps at least one. */
void *gp_mem_shrink(void *items, size_t n, size_t size);

char *gp_mem_copy_text(const char *text, size_t length); /* adds a NUL */

#endif
