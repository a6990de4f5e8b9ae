/* SPDX-License-Identifier: MIT */
/*
 * Unpacking gzip and zstd as a stream, concatenated members and frames too.
 */
#ifndef FORMATS_UNPACK_H
#define FORMATS_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gp_unpack;

/* Packed bytes in: as read(2), without EINTR. */
typedef ssize_t gp_unpack_read(void *arg, void *to, size_t n);

/* NULL if the first bytes are neither gzip's nor zstd's.  Copies head, which
 * was read already. */
struct gp_unpack *gp_unpack_create(const unsigned char *head, size_t n,
				   gp_unpack_read *read, void *arg);
void gp_unpack_destroy(struct gp_unpack *unpack);

/*
 * As read(2): bytes written, 0 at the end of the stream, -1 on an error.
 * *error then says what is wrong, or is NULL when read failed and errno tells.
 */
ssize_t gp_unpack_read_some(struct gp_unpack *unpack, void *to, size_t n,
			    const char **error);

const char *gp_unpack_name(const struct gp_unpack *unpack); /* "gzip" */

#endif
