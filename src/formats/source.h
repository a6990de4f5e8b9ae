/* SPDX-License-Identifier: MIT */
/*
 * Reads bytes from a file, standard input or memory, unpacking gzip, zstd, zip,
 * UTF-16 and the pages of PyTorch's memory_viz, as a window that moves forward.
 *
 * A reader looks at [at, end), moves `at` past what it has used, and calls
 * gp_source_more for more; unread bytes are kept at the front. Memory is
 * bounded by the longest run of bytes that a reader leaves unread, never by
 * what a file claims to contain.
 */
#ifndef FORMATS_SOURCE_H
#define FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/input.h"
#include "gpupool/status.h"

/* end is followed by that many readable zero bytes, so that a reader may look
 * slightly ahead before checking. */
#define GP_SOURCE_SLACK 16

struct gp_source {
	/* The window; a reader only modifies `at`. */
	const unsigned char *at, *end;

	/* The members below are private to source.c. */
	unsigned char *buffer;
	size_t room;
	uint64_t base; /* offset of buffer[0] in the decompressed stream */
	int fd;
	bool is_plain; /* an uncompressed regular file */
	bool is_part;  /* the bytes of the file from done to total only */
	bool is_ended;
	enum gp_status status;
	struct gp_unpack *unpack; /* NULL: not compressed */
	struct gp_unpack *outer;  /* feeds unpack; NULL: packed only once */
	const char *outer_error;
	uint64_t done, total; /* compressed bytes */
	const struct gp_input_config *config;
	struct gp_diag *diag;
};

/*
 * Borrows config and diag until gp_source_close(). Fills the first window with
 * at least GP_SOURCE_PEEK bytes, unless the stream is shorter. Sets diag->file.
 */
#define GP_SOURCE_PEEK 4096
enum gp_status gp_source_open(struct gp_source *source,
			      const struct gp_input_config *config,
			      struct gp_diag *diag);
void gp_source_close(struct gp_source *source);

/*
 * Appends at least one byte to the unread ones. This moves the window, so
 * pointers into it become invalid. False at the end of the stream, or on an
 * error, which is then in source->status and in the diag.
 */
bool gp_source_more(struct gp_source *source);

/* Calls gp_source_more until the window has `need` bytes; false: the stream
 * ended. */
bool gp_source_need(struct gp_source *source, size_t need);

/* Copies n bytes to `to`, or skips them if it is NULL; false: the stream
 * ended. */
bool gp_source_take(struct gp_source *source, void *to, uint64_t n);

/* Goes back to the first byte, if that is still in the window. */
void gp_source_rewind(struct gp_source *source);

/* The offset of `at` in the decompressed stream. */
static inline uint64_t gp_source_offset(const struct gp_source *source)
{
	return source->base + (uint64_t)(source->at - source->buffer);
}

/* The descriptor of an uncompressed regular file, which the source owns; -1:
 * none. *size is set to the file's size. Its file position is unspecified. */
int gp_source_fd(const struct gp_source *source, uint64_t *size);

#endif
