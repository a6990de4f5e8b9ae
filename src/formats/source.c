/* SPDX-License-Identifier: MIT */
/* Reads a file or memory in windows, unpacking it. */
#include "formats/source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/larger.h"
#include "base/mem.h"
#include "formats/zip.h"

/* ---- unpacking: gzip, zstd, deflate, base64 and UTF-16 ---- */

/* Reads compressed bytes, like read(2) without EINTR. */
typedef ssize_t gp_packed_read(void *arg, void *to, size_t n);

#define PACKED_BYTES 65536

struct gp_unpack {
	const struct codec *codec;
	gp_packed_read *read;
	void *arg;
	unsigned char *at, *end; /* compressed bytes not yet used */
	bool is_input_ended;
	bool is_between; /* between two members or frames */
	z_stream gzip;
	ZSTD_DCtx *zstd;
	uint32_t bits; /* of base64 and UTF-16: not yet a whole byte or unit */
	unsigned bit_count;
	uint32_t high; /* of UTF-16: the first half of a pair */
	bool is_big_endian;
	unsigned char packed[PACKED_BYTES];
};

/* The functions of a format; their state is in struct gp_unpack. */
struct codec {
	const char *check; /* how to check a whole file */
	const char *damaged, *truncated;
	bool (*is_magic)(const unsigned char *head, size_t n);
	bool (*start)(struct gp_unpack *unpack);
	/* Decompresses; returns the bytes written, or -1 for damaged input. */
	ssize_t (*step)(struct gp_unpack *unpack, void *to, size_t n);
	void (*stop)(struct gp_unpack *unpack);
};

static bool is_gzip(const unsigned char *head, size_t n)
{
	return n >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

static bool start_inflate(struct gp_unpack *unpack, int format)
{
	int answer = inflateInit2(&unpack->gzip, format);

	if (answer == Z_MEM_ERROR)
		gp_mem_end();
	return answer == Z_OK;
}

static bool start_gzip(struct gp_unpack *unpack)
{
	return start_inflate(unpack, 16 + MAX_WBITS);
}

static bool start_deflated(struct gp_unpack *unpack)
{
	return start_inflate(unpack, -MAX_WBITS);
}

static ssize_t step_gzip(struct gp_unpack *unpack, void *to, size_t n)
{
	z_stream *z = &unpack->gzip;
	int result;

	if (unpack->is_between) {
		/* Other bytes after a member are padding, which gzip(1)
		 * ignores, too. */
		if (*unpack->at != 0x1f) {
			unpack->at = unpack->end;
			return 0;
		}
		inflateReset(z);
	}
	z->next_in = unpack->at;
	z->avail_in = (uInt)(unpack->end - unpack->at);
	z->next_out = to;
	z->avail_out = (uInt)n;
	result = inflate(z, Z_NO_FLUSH);
	if (result == Z_MEM_ERROR)
		gp_mem_end();
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		return -1;
	unpack->at = unpack->end - z->avail_in;
	unpack->is_between = result == Z_STREAM_END;
	return (ssize_t)(n - z->avail_out);
}

static void stop_gzip(struct gp_unpack *unpack)
{
	inflateEnd(&unpack->gzip);
}

static bool is_zstd(const unsigned char *head, size_t n)
{
	static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const unsigned char skippable[] = { 0x2a, 0x4d, 0x18 };

	return n >= 4 &&
	       (!memcmp(head, frame, 4) ||
		((head[0] & 0xf0) == 0x50 && !memcmp(head + 1, skippable, 3)));
}

static bool start_zstd(struct gp_unpack *unpack)
{
	unpack->zstd = ZSTD_createDCtx();
	if (!unpack->zstd)
		gp_mem_end();
	return true;
}

static ssize_t step_zstd(struct gp_unpack *unpack, void *to, size_t n)
{
	ZSTD_inBuffer in = { unpack->at, (size_t)(unpack->end - unpack->at),
			     0 };
	ZSTD_outBuffer out = { to, n, 0 };
	size_t result = ZSTD_decompressStream(unpack->zstd, &out, &in);

	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		gp_mem_end();
	if (ZSTD_isError(result))
		return -1;
	unpack->at += in.pos;
	unpack->is_between = !result;
	return (ssize_t)out.pos;
}

static void stop_zstd(struct gp_unpack *unpack)
{
	ZSTD_freeDCtx(unpack->zstd);
}

/* ---- the pages that torch.cuda._memory_viz writes ---- */

#define PAGE_DATA "\"base64\": \""

static const unsigned char *page_data(const unsigned char *head, size_t n)
{
	static const char mark[] = PAGE_DATA;
	const char *data;

	while (n && isspace(*head)) {
		head++;
		n--;
	}
	if (!n || *head != '<' || !memmem(head, n, "MemoryViz", 9))
		return NULL;
	data = memmem(head, n, mark, sizeof(mark) - 1);
	return data ? (const unsigned char *)data + sizeof(mark) - 1 : NULL;
}

static bool is_page(const unsigned char *head, size_t n)
{
	return page_data(head, n) != NULL;
}

static bool start_page(struct gp_unpack *unpack)
{
	unpack->at +=
		page_data(unpack->at, (size_t)(unpack->end - unpack->at)) -
		unpack->at;
	return true;
}

/* -1: not a digit of base64. */
static int digit_of(unsigned char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'	      ? 62
	       : c == '/'	      ? 63
				      : -1;
}

static ssize_t step_page(struct gp_unpack *unpack, void *to, size_t n)
{
	unsigned char *out = to, *last = out + n;

	if (unpack->is_between)
		unpack->at = unpack->end;
	while (unpack->at < unpack->end && out < last) {
		unsigned char c = *unpack->at++;
		int digit = digit_of(c);

		if (c == '"') {
			unpack->is_between = true;
			break;
		}
		if (c == '=')
			continue;
		if (digit < 0)
			return -1;
		unpack->bits = unpack->bits << 6 | (uint32_t)digit;
		unpack->bit_count += 6;
		if (unpack->bit_count < 8)
			continue;
		unpack->bit_count -= 8;
		*out++ = (unsigned char)(unpack->bits >> unpack->bit_count);
	}
	return out - (unsigned char *)to;
}

static void keep_nothing(struct gp_unpack *unpack)
{
	(void)unpack;
}

/* ---- UTF-16, which PowerShell writes behind ">" ---- */

#define IS_HIGH(unit)	((unit) >= 0xd800 && (unit) < 0xdc00)
#define IS_LOW(unit)	((unit) >= 0xdc00 && (unit) < 0xe000)
#define LONGEST_IN_UTF8 4

static bool is_utf16(const unsigned char *head, size_t n)
{
	return n >= 4 && ((head[0] == 0xff && head[1] == 0xfe) ||
			  (head[0] == 0xfe && head[1] == 0xff));
}

static bool start_utf16(struct gp_unpack *unpack)
{
	unpack->is_big_endian = *unpack->at == 0xfe;
	unpack->at += 2;
	unpack->is_between = true; /* it may end anywhere */
	return true;
}

static unsigned char *put_utf8(unsigned char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (unsigned char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (unsigned char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (unsigned char)(0xe0 | c >> 12);
		} else {
			*out++ = (unsigned char)(0xf0 | c >> 18);
			*out++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
		}
		*out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	}
	*out++ = (unsigned char)(0x80 | (c & 0x3f));
	return out;
}

/* Half of a surrogate pair becomes U+FFFD. */
static unsigned char *put_unit(struct gp_unpack *unpack, unsigned char *out,
			       uint32_t unit)
{
	uint32_t high = unpack->high;

	unpack->high = IS_HIGH(unit) ? unit : 0;
	if (unpack->high)
		return out;
	if (IS_LOW(unit))
		unit = high ? 0x10000 +
				       ((high - 0xd800) << 10 | (unit - 0xdc00))
			    : 0xfffd;
	return put_utf8(out, unit);
}

static ssize_t step_utf16(struct gp_unpack *unpack, void *to, size_t n)
{
	unsigned char *out = to, *last = out + n;

	while (unpack->at < unpack->end && last - out >= LONGEST_IN_UTF8) {
		uint32_t c = *unpack->at++, first = unpack->bits;

		unpack->bits = c;
		unpack->bit_count ^= 8;
		if (unpack->bit_count)
			continue;
		out = put_unit(unpack, out,
			       unpack->is_big_endian ? first << 8 | c
						     : c << 8 | first);
	}
	return out - (unsigned char *)to;
}

/* ---- the codecs by their first bytes ---- */

static const struct codec codecs[] = {
	{ " \"gzip -t\" checks a whole file", "the gzip data is damaged",
	  "the gzip data ends early", is_gzip, start_gzip, step_gzip,
	  stop_gzip },
	{ " \"zstd -t\" checks a whole file", "the zstd data is damaged",
	  "the zstd data ends early", is_zstd, start_zstd, step_zstd,
	  stop_zstd },
	{ "", "the snapshot in the page is damaged", "the page ends early",
	  is_page, start_page, step_page, keep_nothing },
	{ "", "the UTF-16 is damaged", "the UTF-16 ends early", is_utf16,
	  start_utf16, step_utf16, keep_nothing },
};

static const struct codec deflated = { " \"unzip -t\" checks a whole file",
				       "the zip data is damaged",
				       "the zip data ends early",
				       NULL,
				       start_deflated,
				       step_gzip,
				       stop_gzip };

static struct gp_unpack *make(const struct codec *codec,
			      const unsigned char *head, size_t n,
			      gp_packed_read *read, void *arg)
{
	struct gp_unpack *unpack = gp_mem_alloc(1, sizeof(*unpack));

	unpack->codec = codec;
	unpack->read = read;
	unpack->arg = arg;
	n = n < PACKED_BYTES ? n : PACKED_BYTES;
	if (n)
		memcpy(unpack->packed, head, n);
	unpack->at = unpack->packed;
	unpack->end = unpack->packed + n;
	if (codec->start(unpack))
		return unpack;
	free(unpack);
	return NULL;
}

/* For gzip, zstd, UTF-16, or a page of PyTorch's memory_viz, which holds a
 * snapshot as base64. NULL: the first bytes are of none of these. Copies head,
 * which was already read. read and arg are borrowed. */
static struct gp_unpack *unpack_create(const unsigned char *head, size_t n,
				       gp_packed_read *read, void *arg)
{
	for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++)
		if (codecs[i].is_magic(head, n))
			return make(&codecs[i], head, n, read, arg);
	return NULL;
}

/* Data without a header, as in zip files. */
static struct gp_unpack *unpack_deflated(gp_packed_read *read, void *arg)
{
	return make(&deflated, NULL, 0, read, arg);
}

static void unpack_destroy(struct gp_unpack *unpack)
{
	if (!unpack)
		return;
	unpack->codec->stop(unpack);
	free(unpack);
}

/* Reads compressed bytes if there are none left; false: reading failed. */
static bool refill(struct gp_unpack *unpack)
{
	ssize_t n;

	if (unpack->at < unpack->end || unpack->is_input_ended)
		return true;
	n = unpack->read(unpack->arg, unpack->packed, PACKED_BYTES);
	if (n < 0)
		return false;
	unpack->is_input_ended = !n;
	unpack->at = unpack->packed;
	unpack->end = unpack->packed + n;
	return true;
}

/*
 * Like read(2): returns the bytes written, 0 at the end of the stream, -1 on
 * failure. *error then describes it, or is NULL if reading failed and errno is
 * set.
 */
static ssize_t unpack_some(struct gp_unpack *unpack, void *to, size_t n,
			   const char **error)
{
	ssize_t written = 0;

	*error = NULL;
	while (!written) {
		unsigned char *before;

		if (!refill(unpack))
			return -1;
		before = unpack->at;
		if (unpack->is_input_ended && unpack->is_between)
			return 0;
		/* Without input, a codec may still have output to write. */
		written = unpack->codec->step(unpack, to, n);
		if (written < 0) {
			*error = unpack->codec->damaged;
			return -1;
		}
		if (!written && unpack->is_input_ended &&
		    unpack->at == before && !unpack->is_between) {
			*error = unpack->codec->truncated;
			return -1;
		}
	}
	return written;
}

/* A sentence for a hint: which command checks a whole file. "": none. */
static const char *unpack_check(const struct gp_unpack *unpack)
{
	return unpack->codec->check;
}

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
	gp_diag_hint(
		source->diag, "was it copied while it was being written?%s",
		unpack_check(source->outer ? source->outer : source->unpack));
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

		GP_GROW(source->buffer, need, room);
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

	if (!most)
		most = GP_INPUT_MOST;
	if (unpacked <= most)
		return true;
	gp_diag_hint(source->diag,
		     "--max-input allows more, if there is memory for it");
	source->status =
		gp_diag_set(source->diag, GP_INPUT,
			    "it decompresses to more than %s", GP_BYTES(most));
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
		n = unpack_some(source->unpack, to, room, &error);
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
		source->unpack = unpack_deflated(read_packed, source);
}

/* ---- opening ---- */

/* Magic numbers are short. */
#define HEAD_BYTES 1024

/* Reads the first bytes, but no more than fit in an unpacker's input. */
static void read_head(struct gp_source *source)
{
	source->room = GP_SOURCE_PEEK;
	gp_source_need(source, HEAD_BYTES);
	source->room = WINDOW_BYTES;
}

/* Drops what was read so far: it is read again, unpacked. */
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

	return unpack_some(source->outer, to, n, &source->outer_error);
}

/* A file that was packed twice, or text in UTF-16 that was packed. */
static void recognise_inner(struct gp_source *source)
{
	struct gp_unpack *inner;

	read_head(source);
	if (source->status != GP_OK)
		return;
	inner = unpack_create(source->at, (size_t)(source->end - source->at),
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
			unpack_create(source->at, n, read_packed, source);
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
	read_head(source);
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
	unpack_destroy(source->unpack);
	unpack_destroy(source->outer);
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
