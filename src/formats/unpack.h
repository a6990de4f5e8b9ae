/* SPDX-License-Identifier: MIT */
/*
 * Decompression of streams: what a codec is, and the table of them.
 */
#ifndef FORMATS_UNPACK_H
#define FORMATS_UNPACK_H

#include <stddef.h>
#include <sys/types.h>

struct gp_unpack;

/* Reads compressed bytes, like read(2) without EINTR. */
typedef ssize_t gp_packed_read(void *arg, void *to, size_t n);

/* gzip, zstd, or a page of PyTorch's memory_viz, which holds a snapshot as
 * base64. NULL: the first bytes are of none of them. Copies head, which was
 * already read. read and arg are borrowed. */
struct gp_unpack *gp_unpack_create(const unsigned char *head, size_t n,
				   gp_packed_read *read, void *arg);
/* Data without a header, as in zip files. */
struct gp_unpack *gp_unpack_deflated(gp_packed_read *read, void *arg);
void gp_unpack_destroy(struct gp_unpack *unpack); /* may be NULL */

/*
 * Like read(2): returns the bytes written, 0 at the end of the stream, -1 on
 * failure. *error then describes it, or is NULL if reading failed and errno is
 * set.
 */
ssize_t gp_unpack_some(struct gp_unpack *unpack, void *to, size_t n,
		       const char **error);

/* A sentence for a hint: which command checks a whole file. "": none. */
const char *gp_unpack_check(const struct gp_unpack *unpack);

#endif
