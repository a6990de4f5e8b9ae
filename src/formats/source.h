/* SPDX-License-Identifier: MIT */
/*
 * Bytes in: a file, standard input or memory, gzip and zstd unpacked on the
 * way, as a window that moves forward.
 *
 * A reader looks at [at, end), advances at past what it used, and calls
 * gp_source_more for more; unread bytes are kept, in front.  Memory is bounded
 * by the longest run of bytes a reader leaves unread, never by what a file
 * claims to hold.
 */
#ifndef FORMATS_SOURCE_H
#define FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/input.h"
#include "gpupool/status.h"

/* Behind end lie this many readable zero bytes, so that a reader may look a
 * little ahead before it checks. */
#define GP_SOURCE_SLACK 16

struct gp_source {
	/* The window; a reader moves at, nothing else. */
	const unsigned char *at, *end;

	/* The rest is private to source.c. */
	unsigned char *buffer;
	size_t room;
	uint64_t base; /* offset of buffer[0] in the unpacked stream */
	int fd;
	bool is_plain; /* an uncompressed regular file */
	bool is_ended;
	enum gp_status status;
	struct gp_unpack *unpack; /* NULL: not compressed */
	uint64_t done, total;	  /* packed bytes, for the progress */
	const struct gp_input_config *config;
	struct gp_diag *diag;
};

/*
 * Borrows config and diag until the close.  Fills the first window: at least
 * GP_SOURCE_PEEK bytes unless the stream is shorter.  Sets diag->file.
 */
#define GP_SOURCE_PEEK 4096
enum gp_status gp_source_open(struct gp_source *source,
			      const struct gp_input_config *config,
			      struct gp_diag *diag);
void gp_source_close(struct gp_source *source);

/*
 * Adds at least one byte behind the unread ones; moves the window, so pointers
 * into it are void.  False at the end of the stream and on an error, which is
 * then source->status, told in the diag.
 */
bool gp_source_more(struct gp_source *source);

/* Calls gp_source_more until the window holds need bytes; false: it ended. */
bool gp_source_need(struct gp_source *source, size_t need);

/* Copies n bytes out, or skips them (to == NULL); false: it ended first. */
bool gp_source_take(struct gp_source *source, void *to, uint64_t n);

/* Where at stands in the unpacked stream. */
static inline uint64_t gp_source_offset(const struct gp_source *source)
{
	return source->base + (uint64_t)(source->at - source->buffer);
}

/* The descriptor of an uncompressed regular file, or -1; the source owns it.
 * *size is the file's size.  Its file position is anywhere. */
int gp_source_fd(const struct gp_source *source, uint64_t *size);

#endif
