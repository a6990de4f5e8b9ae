/* SPDX-License-Identifier: MIT */
/* What WASI's <stdlib.h> lacks. */
#ifndef WASM_POSIX_STDLIB_H
#define WASM_POSIX_STDLIB_H
#include_next <stdlib.h>
#ifdef __wasi__

int mkostemp(char *name, int flags);
void qsort_r(void *items, size_t count, size_t size,
	     int (*compare)(const void *a, const void *b, void *arg),
	     void *arg);

#endif
#endif
