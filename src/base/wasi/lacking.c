/* SPDX-License-Identifier: MIT */
/* Functions of POSIX and glibc that WASI's C library lacks. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* No files can be written. */
int mkostemp(char *name, int flags)
{
	(void)name, (void)flags;
	errno = ENOSYS;
	return -1;
}

FILE *tmpfile(void)
{
	errno = ENOSYS;
	return NULL;
}

/* ---- a merge sort, like glibc's ---- */

struct sort {
	size_t size;
	int (*compare)(const void *a, const void *b, void *arg);
	void *arg;
};

static void merge(const struct sort *sort, char *items, size_t left,
		  size_t count, char *room)
{
	size_t size = sort->size, at = 0, i = 0, j = left;

	memcpy(room, items, left * size);
	while (i < left && j < count) {
		bool takes_right =
			sort->compare(room + i * size, items + j * size,
				      sort->arg) > 0;
		const char *from =
			takes_right ? items + j++ * size : room + i++ * size;

		memmove(items + at++ * size, from, size);
	}
	memcpy(items + at * size, room + i * size, (left - i) * size);
}

static void sort_part(const struct sort *sort, char *items, size_t count,
		      char *room)
{
	size_t left = count / 2;

	if (count < 2)
		return;
	sort_part(sort, items, left, room);
	sort_part(sort, items + left * sort->size, count - left, room);
	merge(sort, items, left, count, room);
}

void qsort_r(void *items, size_t count, size_t size,
	     int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
	struct sort sort = { size, compare, arg };
	char *room = gp_mem_alloc(count + 1, size);

	sort_part(&sort, items, count, room);
	free(room);
}
