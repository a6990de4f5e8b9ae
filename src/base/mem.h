/* SPDX-License-Identifier: MIT */
/*
 * Host memory. These functions never return NULL: if memory is exhausted, the
 * run ends with a message and exit code 4, by quick_exit: nothing half-written
 * is flushed, and handlers remove a command's temporary files (at_quick_exit).
 * A program that uses the library may set another handler (gp_memory_handle).
 * Callers bound n by what they have read, never by what a file claims.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* With the address sanitizer, memory ends where its last item ends, so that
 * whatever is read beyond is found. */
#if defined(__SANITIZE_ADDRESS__)
#define GP_MEM_IS_EXACT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GP_MEM_IS_EXACT 1
#endif
#endif
#ifndef GP_MEM_IS_EXACT
#define GP_MEM_IS_EXACT 0
#endif

/* Zeroed; ends the run if n * size overflows. */
void *gp_mem_alloc(size_t n, size_t size);

/*
 * Makes room for at least `need` items by doubling; returns the array, which
 * may have moved, and updates *room. New items are not zeroed.
 */
void *gp_mem_grow(void *items, size_t *room, size_t need, size_t size);
#define GP_GROW(items, need, room)                                             \
	((items) = gp_mem_grow((items), &(room), (need), sizeof(*(items))))

/* Makes room for an item at an index: the items from there on move up. The new
 * item is not set. */
void *gp_mem_insert(void *items, size_t *count, size_t *room, size_t at,
		    size_t size);
#define GP_INSERT(items, count, room, at)                                      \
	((items) = gp_mem_insert((items), &(count), &(room), (at),             \
				 sizeof(*(items))))

void gp_mem_remove(void *items, size_t *count, size_t at, size_t size);
#define GP_REMOVE(items, count, at)                                            \
	gp_mem_remove((items), &(count), (at), sizeof(*(items)))

/* The same array with room for exactly n items; new items are not set. */
void *gp_mem_resize(void *items, size_t n, size_t size);

/* Frees what gp_mem_grow allocated beyond n items; keeps at least one. */
void *gp_mem_shrink(void *items, size_t n, size_t size);

/*
 * Uses huge pages for the first 32 MiB of the heap and for lists that grow up
 * to 64 MiB, if the C library and the kernel support it: page faults are a
 * quarter of the time that reading a trace takes.
 */
void gp_mem_use_huge_pages(void);

/* For libraries that accept an allocation function; not zeroed. */
void *gp_mem_take(size_t size);

/* Ends the run because a library reports that memory is exhausted. */
_Noreturn void gp_mem_end(void);

char *gp_mem_copy_text(const char *text, size_t length); /* adds a NUL */

/* Opens a file in memory, which has no name and is not inherited by child
 * processes. -1, with errno set, if that fails. */
int gp_memfd(const char *name);

#endif
