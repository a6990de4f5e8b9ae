/* SPDX-License-Identifier: MIT */
/* Reads a file or memory in windows, unpacking it. */
#include "formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/larger.h"
#include "base/mem.h"
#include "formats/unpack.h"
#include "formats/zip.h"

/* ---- windows ---- */

/* A window that is being read fits into the L2 cache. */
#define WINDOW_BYTES 131072

static bool is_stdin(const struct gp_source *source)
{
	return !strcmp(source->config->path, "-");
}

static ssize_t take_bytes(struct gp_source *source, void *to, size_t n)
{
	size_t left = (size_t)(source->total - source->done);

	if (n > left)
		n = left;
	memcpy(to, (const char *)source->config->bytes + source->done, n);
	source->done += n;
	return (ssize_t)n;
}

static ssize_t read_packed(void *arg, void *to, size_t n)
{
	struct gp_source *source = arg;
	ssize_t got;

	if (source->config->bytes)
		return take_bytes(source, to, n);
	if (source->is_part)
		n = (size_t)gp_smaller(n, source->total - source->done);
	do
		got = read(source->fd, to, n);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		source->done += (uint64_t)got;
	return got;
}

static bool fail_unpack(struct gp_source *source, const char *error)
{
	source->status = gp_diag_set(source->diag, GP_INPUT, "%s", error);
	gp_diag_record(
		source->diag, "byte %llu of the decompressed file",
		(unsigned long long)(source->base +
				     (size_t)(source->end - source->buffer)));
	gp_diag_hint(source->diag,
		     "was it copied while it was being written?%s",
		     gp_unpack_check(source->outer ? source->outer
						   : source->unpack));
	return false;
}

static bool fail_read(struct gp_source *source)
{
	int error = errno;

	source->status = gp_diag_set(source->diag, GP_SYSTEM,
				     "cannot read it: %s", strerror(error));
	return false;
}

/* Moves unread bytes to the front; enlarges the buffer if they fill half of
 * it. */
static void make_room(struct gp_source *source)
{
	size_t unread = (size_t)(source->end - source->at);

	source->base = gp_source_offset(source);
	memmove(source->buffer, source->at, unread);
	if (unread >= source->room / 2) {
		size_t room = source->room;
		size_t need = 2 * room + GP_SOURCE_SLACK;

		source->buffer = gp_mem_grow(source->buffer, &room, need, 1);
		source->room = room - GP_SOURCE_SLACK;
	}
	source->at = source->buffer;
	source->end = source->buffer + unread;
}

static bool is_within(struct gp_source *source)
{
	uint64_t most = source->config->most_bytes;
	uint64_t unpacked =
		source->base + (uint64_t)(source->end - source->buffer);
	char text[GP_BYTES_TEXT];

	if (!most)
		most = GP_INPUT_MOST;
	if (unpacked <= most)
		return true;
	gp_diag_hint(source->diag,
		     "--max-input allows more, if there is memory for it");
	source->status = gp_diag_set(source->diag, GP_INPUT,
				     "it decompresses to more than %s",
				     gp_bytes_text(most, text));
	return false;
}

bool gp_source_more(struct gp_source *source)
{
	const char *error = NULL;
	unsigned char *to;
	size_t room;
	ssize_t n;

	if (source->is_ended || source->status != GP_OK)
		return false;
	make_room(source);
	to = source->buffer + (source->end - source->buffer);
	room = source->room - (size_t)(source->end - source->buffer);
	if (source->unpack)
		n = gp_unpack_some(source->unpack, to, room, &error);
	else
		n = read_packed(source, to, room);
	error = error ? error : source->outer_error;
	if (n < 0)
		return error ? fail_unpack(source, error) : fail_read(source);
	source->is_ended = !n;
	source->end += n;
	if (source->unpack && !is_within(source))
		return false;
	memset(to + n, 0, GP_SOURCE_SLACK);
	if (source->config->progress)
		source->config->progress(source->config->progress_arg,
					 source->done, source->total);
	return n > 0;
}

void gp_source_rewind(struct gp_source *source)
{
	if (!source->base)
		source->at = source->buffer;
}

bool gp_source_need(struct gp_source *source, size_t need)
{
	while ((size_t)(source->end - source->at) < need)
		if (!gp_source_more(source))
			return false;
	return true;
}

bool gp_source_take(struct gp_source *source, void *to, uint64_t n)
{
	char *out = to;

	while (n) {
		size_t there = (size_t)(source->end - source->at);

		if (!there && !gp_source_more(source))
			return false;
		there = (size_t)(source->end - source->at);
		if (there > n)
			there = (size_t)n;
		if (out) {
			memcpy(out, source->at, there);
			out += there;
		}
		source->at += there;
		n -= there;
	}
	return true;
}

static enum gp_status open_bytes(struct gp_source *source)
{
	const char *path = source->config->path;
	struct gp_diag *diag = source->diag;
	struct stat st;

	if (source->config->bytes) {
		gp_diag_file(diag, path ? path : "memory");
		source->total = source->config->length;
		return GP_OK;
	}
	if (!path)
		return gp_diag_set(diag, GP_USAGE,
				   "neither a path nor bytes are given");
	if (!*path)
		return gp_diag_set(diag, GP_INPUT,
				   "the name of a file is empty");
	gp_diag_file(diag, is_stdin(source) ? "standard input" : path);
	source->fd = is_stdin(source) ? STDIN_FILENO
				      : open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 || fstat(source->fd, &st)) {
		int error = errno;

		return gp_diag_set(diag, gp_file_status(error),
				   "cannot open it: %s", strerror(error));
	}
	if (S_ISDIR(st.st_mode)) {
		gp_diag_hint(diag, "give a file in it");
		return gp_diag_set(diag, GP_INPUT, "it is a directory");
	}
	source->is_plain = S_ISREG(st.st_mode);
	source->total = source->is_plain ? (uint64_t)st.st_size : 0;
	return GP_OK;
}

/* ---- a trace in a zip file ---- */

static bool read_at(void *arg, uint64_t at, void *to, size_t n)
{
	const struct gp_source *source = arg;
	char *out = to;

	if (source->config->bytes) {
		memcpy(to, (const char *)source->config->bytes + at, n);
		return true;
	}
	while (n) {
		ssize_t got = pread(source->fd, out, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		out += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

/* Continues with the bytes of the file that the zip file holds. */
static void enter_zip(struct gp_source *source)
{
	const struct gp_zip_file zip = { source->total, read_at, source };
	struct gp_zip_entry entry;

	source->status = gp_zip_find(&zip, &entry, source->diag);
	if (source->status != GP_OK)
		return;
	if (!source->config->bytes &&
	    lseek(source->fd, (off_t)entry.at, SEEK_SET) < 0) {
		fail_read(source);
		return;
	}
	source->done = entry.at;
	source->total = entry.at + entry.length;
	source->is_part = true;
	if (entry.is_deflated)
		source->unpack = gp_unpack_deflated(read_packed, source);
}

/* ---- opening ---- */

/* A head that fits an unpacker's input: magic numbers are short. */
static void read_head(struct gp_source *source, size_t n)
{
	source->room = GP_SOURCE_PEEK;
	gp_source_need(source, n);
	source->room = WINDOW_BYTES;
}

/* What was read so far is read again from the unpacked bytes. */
static void read_again(struct gp_source *source)
{
	source->at = source->end = source->buffer;
	source->base = 0;
	source->is_plain = false;
	source->is_ended = false;
}

static ssize_t read_outer(void *arg, void *to, size_t n)
{
	struct gp_source *source = arg;

	return gp_unpack_some(source->outer, to, n, &source->outer_error);
}

/* A file that was packed twice, or text in UTF-16 that was packed. */
static void recognise_inner(struct gp_source *source)
{
	struct gp_unpack *inner;

	read_head(source, GP_SOURCE_PEEK / 4);
	if (source->status != GP_OK)
		return;
	inner = gp_unpack_create(source->at, (size_t)(source->end - source->at),
				 read_outer, source);
	if (!inner)
		return;
	source->outer = source->unpack;
	source->unpack = inner;
	read_again(source);
}

static void recognise(struct gp_source *source)
{
	size_t n = (size_t)(source->end - source->at);
	bool has_all = source->is_plain || source->config->bytes;

	if (gp_zip_is(source->at, n) && has_all)
		enter_zip(source);
	else
		source->unpack =
			gp_unpack_create(source->at, n, read_packed, source);
	if (source->unpack || source->is_part)
		read_again(source);
	if (source->unpack && source->status == GP_OK)
		recognise_inner(source);
}

enum gp_status gp_source_open(struct gp_source *source,
			      const struct gp_input_config *config,
			      struct gp_diag *diag)
{
	*source = (struct gp_source){
		.fd = -1, .config = config, .diag = diag, .room = WINDOW_BYTES
	};
	source->status = open_bytes(source);
	if (source->status != GP_OK)
		goto out;
	source->buffer = gp_mem_alloc(WINDOW_BYTES + GP_SOURCE_SLACK, 1);
	source->at = source->end = source->buffer;
	read_head(source, GP_SOURCE_PEEK / 4);
	if (source->status == GP_OK)
		recognise(source);
	if (source->status == GP_OK)
		gp_source_need(source, GP_SOURCE_PEEK);
out:
	if (source->status != GP_OK)
		gp_source_close(source);
	return source->status;
}

void gp_source_close(struct gp_source *source)
{
	gp_unpack_destroy(source->unpack);
	gp_unpack_destroy(source->outer);
	free(source->buffer);
	if (source->fd > STDIN_FILENO ||
	    (source->fd == STDIN_FILENO && !is_stdin(source)))
		close(source->fd);
	source->unpack = source->outer = NULL;
	source->buffer = NULL;
	source->at = source->end = NULL;
	source->fd = -1;
}

int gp_source_fd(const struct gp_source *source, uint64_t *size)
{
	if (!source->is_plain)
		return -1;
	*size = source->total;
	return source->fd;
}
