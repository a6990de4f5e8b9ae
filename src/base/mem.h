/* SPDX-License-Identifier: MIT */
/*
 * Host memory.  Never returns NULL: when there is none the run ends, with a
 * message and exit code 4, by quick_exit: nothing half written is flushed, and
 * what stands in for a command's files removes them (at_quick_exit).  A program
 * that uses the library may set what is done instead (gp_memory_handle).
 * Callers bound n by what they have read, never by what a file claims.
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

/* The same items with room for exactly n; what is new is not set. */
void *gp_mem_resize(void *items, size_t n, size_t size);

/* Gives back what gp_mem_grow holds beyond n items; keeps at least one. */
void *gp_mem_shrink(void *items, size_t n, size_t size);

/*
 * The first 32 MiB that the program takes come in huge pages, and so do lists
 * that grow up to 64 MiB, where the C library and the kernel can: single pages
 * are a quarter of what a read of a trace takes.
 */
void gp_mem_use_huge_pages(void);

/* For libraries that take memory by a function of theirs; not zeroed. */
void *gp_mem_take(size_t size);

/* Ends the run for want of memory, where a library says so. */
_Noreturn void gp_mem_end(void);

char *gp_mem_copy_text(const char *text, size_t length); /* adds a NUL */

#endif
