/* SPDX-License-Identifier: MIT */
/* What every fuzz target needs: its entry point, a check that reports what
 * failed, and bytes as a file. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s\n", what);
		abort();
	}
}

/* A file in memory, and its path; close fd. */
struct bytes {
	int fd;
	char path[32];
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
	struct bytes bytes = { .fd = memfd_create("bytes", 0) };

	must(bytes.fd >= 0 && write(bytes.fd, data, size) == (ssize_t)size,
	     "the input has no room");
	snprintf(bytes.path, sizeof(bytes.path), "/proc/self/fd/%d", bytes.fd);
	return bytes;
}

#endif
