/* SPDX-License-Identifier: MIT */
/* Host memory: if it is exhausted, the run ends. */
#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif
#ifdef __linux__
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "gpupool/status.h"

/* Global: a program sets it once, for all of its threads. */
static gp_memory_handler *handler;
static void *handler_arg;

void gp_memory_handle(gp_memory_handler *call, void *arg)
{
	handler = call;
	handler_arg = arg;
}

static _Noreturn void end_run(size_t n, size_t size)
{
	if (handler)
		handler(handler_arg, n > SIZE_MAX / size ? SIZE_MAX : n * size);
	fprintf(stderr,
		"gpupool: out of host memory (%zu x %zu bytes wanted)\n", n,
		size);
	quick_exit(GP_SYSTEM);
}

_Noreturn void gp_mem_end(void)
{
	if (handler)
		handler(handler_arg, 0);
	fputs("gpupool: out of host memory\n", stderr);
	quick_exit(GP_SYSTEM);
}

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
/* Larger allocations are mapped individually. Huge pages are only advised for
 * lists, which are filled from front to back: of other allocations, most memory
 * is often never touched. */
#define MAPPED_LEAST ((size_t)4 << 20)
/* Larger lists are moved when they grow, and moving splits huge pages. */
#define HUGE_MOST    ((size_t)64 << 20)

static bool uses_huge_pages; /* set once, before there are threads */

static void *in_huge_pages(void *bytes, size_t size)
{
	const size_t page = 4096;
	size_t before = page - (uintptr_t)bytes % page;

	if (uses_huge_pages && bytes && size >= MAPPED_LEAST &&
	    size <= HUGE_MOST)
		madvise((char *)bytes + before, size - before, MADV_HUGEPAGE);
	return bytes;
}

void gp_mem_use_huge_pages(void)
{
	const int bytes = 32 << 20;

	/* These limits make malloc take the memory from the heap and keep it
	 * there after the free. */
	mallopt(M_TRIM_THRESHOLD, 2 * bytes);
	mallopt(M_MMAP_THRESHOLD, 2 * bytes);
	uses_huge_pages = true;
	free(in_huge_pages(malloc((size_t)bytes), (size_t)bytes));
	/* What each replay allocates and frees stays in the heap, too. */
	mallopt(M_MMAP_THRESHOLD, (int)MAPPED_LEAST);
}
#else
static void *in_huge_pages(void *bytes, size_t size)
{
	(void)size;
	return bytes;
}

void gp_mem_use_huge_pages(void)
{
}
#endif

void *gp_mem_take(size_t size)
{
	void *bytes = malloc(size ? size : 1);

	if (!bytes)
		end_run(1, size ? size : 1);
	return bytes;
}

void *gp_mem_alloc(size_t n, size_t size)
{
	void *items = calloc(n ? n : 1, size ? size : 1);

	if (!items)
		end_run(n, size ? size : 1);
	return items;
}

/* Lists with more items double even if memory is exact, which takes less
 * time. */
#define EXACT_MOST 64

void *gp_mem_grow(void *items, size_t *room, size_t need, size_t size)
{
	size_t n = *room ? *room : 16;

	if (need <= *room)
		return items;
	if (GP_MEM_IS_EXACT && need <= EXACT_MOST)
		n = need;
	while (n < need) {
		if (n > SIZE_MAX / 2 / size)
			end_run(need, size);
		n *= 2;
	}
	items = realloc(items, n * size);
	if (!items)
		end_run(n, size);
	*room = n;
	return in_huge_pages(items, n * size);
}

void *gp_mem_insert(void *items, size_t *count, size_t *room, size_t at,
		    size_t size)
{
	char *list = gp_mem_grow(items, room, *count + 1, size);

	memmove(list + (at + 1) * size, list + at * size, (*count - at) * size);
	++*count;
	return list;
}

void gp_mem_remove(void *items, size_t *count, size_t at, size_t size)
{
	char *item = (char *)items + at * size;

	--*count;
	memmove(item, item + size, (*count - at) * size);
}

void *gp_mem_resize(void *items, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		end_run(n, size);
	items = realloc(items, (n ? n : 1) * size);
	if (!items)
		end_run(n, size);
	return in_huge_pages(items, n * size);
}

void *gp_mem_shrink(void *items, size_t n, size_t size)
{
	void *smaller = realloc(items, (n ? n : 1) * size);

	return smaller ? smaller : items;
}

char *gp_mem_copy_text(const char *text, size_t length)
{
	char *copy = gp_mem_alloc(length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

/* glibc has memfd_create only from 2.27 on. */
int gp_memfd(const char *name)
{
#ifdef __linux__
	return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
#else
	(void)name;
	errno = ENOSYS;
	return -1;
#endif
}
