/* SPDX-License-Identifier: MIT */
/* Unpacks gzip, zstd, deflate, base64 and UTF-16. */
#include "formats/unpack.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

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
	uint32_t bits; /* of base64 and UTF-16: of what is no bytes yet */
	unsigned bit_count;
	uint32_t high; /* of UTF-16: the first half of a pair */
	bool is_big_endian;
	unsigned char packed[PACKED_BYTES];
};

/* A pair of functions, beside what they keep in struct gp_unpack. */
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

/* Half a pair becomes U+FFFD. */
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

/* ---- all ---- */

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

struct gp_unpack *gp_unpack_create(const unsigned char *head, size_t n,
				   gp_packed_read *read, void *arg)
{
	for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++)
		if (codecs[i].is_magic(head, n))
			return make(&codecs[i], head, n, read, arg);
	return NULL;
}

struct gp_unpack *gp_unpack_deflated(gp_packed_read *read, void *arg)
{
	return make(&deflated, NULL, 0, read, arg);
}

void gp_unpack_destroy(struct gp_unpack *unpack)
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

ssize_t gp_unpack_some(struct gp_unpack *unpack, void *to, size_t n,
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

const char *gp_unpack_check(const struct gp_unpack *unpack)
{
	return unpack->codec->check;
}
