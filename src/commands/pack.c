/* SPDX-License-Identifier: MIT */
/*
 * A stream that packs what is written to it: a stdio stream with its own write
 * (fopencookie, which glibc and musl have).
 */
#include "commands/pack.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

#define ROOM	   (64 << 10) /* bytes packed before they are written */
#define GZIP_BITS  (15 + 16)  /* the largest window, and gzip's frame */
#define ZSTD_LEVEL 3

struct pack {
	FILE *under;
	enum gp_packing packing;
	z_stream gzip;
	ZSTD_CCtx *zstd;
	unsigned char room[ROOM];
};

static bool put(struct pack *pack, size_t length)
{
	return fwrite(pack->room, 1, length, pack->under) == length;
}

static bool put_gzip(struct pack *pack, const char *data, size_t size, bool end)
{
	int answer;

	pack->gzip.next_in = (unsigned char *)(uintptr_t)data;
	pack->gzip.avail_in = (uInt)size;
	do {
		pack->gzip.next_out = pack->room;
		pack->gzip.avail_out = ROOM;
		answer = deflate(&pack->gzip, end ? Z_FINISH : Z_NO_FLUSH);
		if (answer == Z_STREAM_ERROR ||
		    !put(pack, ROOM - pack->gzip.avail_out))
			return false;
	} while (!pack->gzip.avail_out);
	return true;
}

static bool put_zstd(struct pack *pack, const char *data, size_t size, bool end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { pack->room, ROOM, 0 };

		left = ZSTD_compressStream2(pack->zstd, &out, &in,
					    end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left) || !put(pack, out.pos))
			return false;
	} while (end ? left != 0 : in.pos < in.size);
	return true;
}

static bool put_packed(struct pack *pack, const char *data, size_t size,
		       bool end)
{
	return pack->packing == GP_PACK_GZIP ? put_gzip(pack, data, size, end)
					     : put_zstd(pack, data, size, end);
}

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
	return put_packed(cookie, data, size, false) ? (ssize_t)size : 0;
}

static int close_packed(void *cookie)
{
	struct pack *pack = cookie;
	bool is_good = put_packed(pack, NULL, 0, true);

	if (pack->packing == GP_PACK_GZIP)
		deflateEnd(&pack->gzip);
	else
		ZSTD_freeCCtx(pack->zstd);
	free(pack);
	return is_good ? 0 : EOF;
}

static bool begin(struct pack *pack)
{
	if (pack->packing == GP_PACK_GZIP)
		return deflateInit2(&pack->gzip, Z_DEFAULT_COMPRESSION,
				    Z_DEFLATED, GZIP_BITS, 8,
				    Z_DEFAULT_STRATEGY) == Z_OK;
	pack->zstd = ZSTD_createCCtx();
	return pack->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(
		       pack->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd,
						    ZSTD_c_checksumFlag, 1));
}

FILE *gp_pack_open(FILE *under, enum gp_packing packing)
{
	static const cookie_io_functions_t calls = { .write = write_packed,
						     .close = close_packed };
	struct pack *pack = gp_mem_alloc(1, sizeof(*pack));
	FILE *stream = NULL;

	pack->under = under;
	pack->packing = packing;
	if (begin(pack))
		stream = fopencookie(pack, "w", calls);
	if (!stream)
		free(pack);
	return stream;
}
