/* SPDX-License-Identifier: MIT */
/* Reading bytes: windows, pipes, packed streams, and errors in them. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "gpupool/input.h"
#include "formats/source.h"

#define PLAIN_BYTES 700001 /* several windows, and not a multiple of one */

/* The period of these bytes is so long that no two windows are equal. */
static unsigned char *plain_bytes(size_t n)
{
	unsigned char *bytes = malloc(n);
	uint32_t state = 1;

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(state >> 24 & 15);
	}
	return bytes;
}

static size_t pack_gzip(const unsigned char *from, size_t n, unsigned char *to,
			size_t room)
{
	z_stream z = { 0 };

	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	z.next_in = (unsigned char *)from;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static size_t pack_zstd(const unsigned char *from, size_t n, unsigned char *to,
			size_t room)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t packed;

	/* In the form of the zstd command. */
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	packed = ZSTD_compress2(zstd, to, room, from, n);
	ck_assert(!ZSTD_isError(packed));
	ZSTD_freeCCtx(zstd);
	return packed;
}

static size_t pack_none(const unsigned char *from, size_t n, unsigned char *to,
			size_t room)
{
	ck_assert_uint_le(n, room);
	memcpy(to, from, n);
	return n;
}

static const struct packing {
	const char *name;
	size_t (*pack)(const unsigned char *from, size_t n, unsigned char *to,
		       size_t room);
} packings[] = {
	{ "plain", pack_none },
	{ "gzip", pack_gzip },
	{ "zstd", pack_zstd },
};

/* The packed bytes, as a file that is removed when it is closed. */
static FILE *file_of(const unsigned char *bytes, size_t n)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
	ck_assert_int_eq(fflush(file), 0);
	return file;
}

struct reader {
	struct gp_source source;
	struct gp_input_config config;
	struct gp_diag diag;
	char path[32];
	FILE *file;
};

static enum gp_status open_bytes(struct reader *reader,
				 const unsigned char *bytes, size_t n)
{
	reader->file = file_of(bytes, n);
	reader->diag = (struct gp_diag){ 0 };
	snprintf(reader->path, sizeof(reader->path), "/dev/fd/%d",
		 fileno(reader->file));
	reader->config.path = reader->path;
	return gp_source_open(&reader->source, &reader->config, &reader->diag);
}

static void close_bytes(struct reader *reader)
{
	gp_source_close(&reader->source);
	fclose(reader->file);
}

/* Reads everything; returns how many bytes there were before any error. */
static size_t read_all(struct gp_source *source, const unsigned char *want)
{
	bool is_more;
	size_t n = 0;

	do {
		size_t here = (size_t)(source->end - source->at);

		ck_assert_uint_eq(gp_source_offset(source), n);
		ck_assert(!memcmp(source->at, want + n, here));
		for (int i = 0; i < GP_SOURCE_SLACK; i++)
			ck_assert_uint_eq(source->end[i], 0);
		source->at += here;
		n += here;
		is_more = gp_source_more(source);
		/* If it reports more, there is at least one byte. */
		ck_assert(!is_more || source->at < source->end);
	} while (is_more);
	return n;
}

START_TEST(test_all_bytes_arrive)
{
	static const size_t sizes[] = { 0,     1,      5,	   4095,
					65536, 131072, PLAIN_BYTES };
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *packed = malloc(2 * PLAIN_BYTES);

	for (size_t i = 0; i < COUNT_OF(packings) * COUNT_OF(sizes); i++) {
		const struct packing *packing = &packings[i / COUNT_OF(sizes)];
		size_t size = sizes[i % COUNT_OF(sizes)];
		size_t n = packing->pack(plain, size, packed, 2 * PLAIN_BYTES);
		struct reader reader = { .file = NULL };

		ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
		ck_assert_uint_eq(read_all(&reader.source, plain), size);
		ck_assert_int_eq(reader.source.status, GP_OK);
		close_bytes(&reader);
	}
	free(plain);
	free(packed);
}
END_TEST

START_TEST(test_files_are_closed)
{
	struct reader reader = { .file = NULL };
	int fd;

	ck_assert_int_eq(open_bytes(&reader, (const unsigned char *)"abc", 3),
			 GP_OK);
	fd = reader.source.fd;
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close_bytes(&reader);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(test_members_and_frames_follow_each_other)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *packed = malloc(2 * PLAIN_BYTES);

	for (size_t i = 1; i < COUNT_OF(packings); i++) {
		struct reader reader = { .file = NULL };
		size_t n = packings[i].pack(plain, 1000, packed, PLAIN_BYTES);

		n += packings[i].pack(plain, 0, packed + n, PLAIN_BYTES);
		n += packings[i].pack(plain + 1000, 300000, packed + n,
				      PLAIN_BYTES);
		ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
		ck_assert_uint_eq(read_all(&reader.source, plain), 301000);
		ck_assert_int_eq(reader.source.status, GP_OK);
		close_bytes(&reader);
	}
	free(plain);
	free(packed);
}
END_TEST

/* Frames with notes of other programs, as pzstd writes them, may come first. */
START_TEST(test_skippable_frames_are_left_out)
{
	unsigned char plain[100] = "abc";
	unsigned char packed[1000] = { 0x5a, 0x2a, 0x4d, 0x18, 3,  0,
				       0,    0,	   'a',	 'b',  'c' };
	size_t n = 11 + pack_zstd(plain, sizeof(plain), packed + 11,
				  sizeof(packed) - 11);
	struct reader reader = { .file = NULL };

	ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
	ck_assert_uint_eq(read_all(&reader.source, plain), sizeof(plain));
	ck_assert_int_eq(reader.source.status, GP_OK);
	close_bytes(&reader);
}
END_TEST

/* Bytes after the last member are padding. */
START_TEST(test_zeros_behind_gzip_are_left_out)
{
	unsigned char plain[100] = "abc", packed[1000] = { 0 };
	size_t n = pack_gzip(plain, sizeof(plain), packed, sizeof(packed));
	struct reader reader = { .file = NULL };

	ck_assert_int_eq(open_bytes(&reader, packed, n + 100), GP_OK);
	ck_assert_uint_eq(read_all(&reader.source, plain), sizeof(plain));
	ck_assert_int_eq(reader.source.status, GP_OK);
	close_bytes(&reader);
}
END_TEST

START_TEST(test_cut_streams_are_errors)
{
	static const char *const messages[] = { NULL,
						"the gzip data ends early",
						"the zstd data ends early" };
	unsigned char *plain = plain_bytes(10000);
	unsigned char *packed = malloc(20000);

	for (size_t i = 1; i < COUNT_OF(packings); i++) {
		size_t n = packings[i].pack(plain, 10000, packed, 20000);

		for (size_t cut = 4; cut < n; cut += 97) {
			struct reader reader = { .file = NULL };
			enum gp_status status =
				open_bytes(&reader, packed, cut);

			if (status == GP_OK) {
				ck_assert_uint_lt(
					read_all(&reader.source, plain), 10000);
				status = reader.source.status;
			}
			ck_assert_int_eq(status, GP_INPUT);
			ck_assert_str_eq(reader.diag.what, messages[i]);
			ck_assert_str_ne(reader.diag.hint, "");
			close_bytes(&reader);
		}
	}
	free(plain);
	free(packed);
}
END_TEST

START_TEST(test_damaged_streams_are_errors)
{
	unsigned char *plain = plain_bytes(10000);
	unsigned char *packed = malloc(20000);

	for (size_t i = 1; i < COUNT_OF(packings); i++) {
		size_t n = packings[i].pack(plain, 10000, packed, 20000);
		struct reader reader = { .file = NULL };

		memset(packed + n / 2, 0xff, n / 4);
		if (open_bytes(&reader, packed, n) == GP_OK)
			while (gp_source_more(&reader.source))
				reader.source.at = reader.source.end;
		ck_assert_int_eq(reader.source.status, GP_INPUT);
		ck_assert(strstr(reader.diag.what, "is damaged"));
		ck_assert(
			strstr(reader.diag.record, "of the decompressed file"));
		close_bytes(&reader);
	}
	free(plain);
	free(packed);
}
END_TEST

START_TEST(test_unread_bytes_are_kept)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	struct reader reader = { .file = NULL };
	struct gp_source *source = &reader.source;

	ck_assert_int_eq(open_bytes(&reader, plain, PLAIN_BYTES), GP_OK);
	source->at += 3;
	ck_assert(gp_source_need(source, 600000));
	ck_assert_uint_eq(gp_source_offset(source), 3);
	ck_assert(!memcmp(source->at, plain + 3, 600000));
	ck_assert(!gp_source_need(source, PLAIN_BYTES));
	ck_assert_int_eq(source->end - source->at, PLAIN_BYTES - 3);
	ck_assert(!memcmp(source->at, plain + 3, PLAIN_BYTES - 3));
	close_bytes(&reader);
	free(plain);
}
END_TEST

START_TEST(test_bytes_are_taken_across_windows)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *copy = malloc(PLAIN_BYTES);
	struct reader reader = { .file = NULL };
	struct gp_source *source = &reader.source;

	ck_assert_int_eq(open_bytes(&reader, plain, PLAIN_BYTES), GP_OK);
	ck_assert(gp_source_take(source, copy, 300000));
	ck_assert(!memcmp(copy, plain, 300000));
	ck_assert(gp_source_take(source, NULL, 400000));
	ck_assert_uint_eq(gp_source_offset(source), 700000);
	ck_assert(gp_source_take(source, copy, 1));
	ck_assert_uint_eq(copy[0], plain[700000]);
	ck_assert(!gp_source_take(source, NULL, UINT64_MAX));
	ck_assert_int_eq(source->status, GP_OK);
	close_bytes(&reader);
	free(copy);
	free(plain);
}
END_TEST

/* Whether or not the bytes are packed, to the exact byte, whatever follows
 * them. */
START_TEST(test_bytes_in_memory_are_read_as_a_file_is)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *packed = malloc(2 * PLAIN_BYTES);

	for (size_t i = 0; i < COUNT_OF(packings); i++) {
		size_t n = packings[i].pack(plain, PLAIN_BYTES, packed,
					    2 * PLAIN_BYTES);
		unsigned char *exact = malloc(n);
		struct gp_input_config config = { .bytes = exact, .length = n };
		struct gp_diag diag = { 0 };
		struct gp_source source;
		uint64_t size;

		memcpy(exact, packed, n);
		ck_assert_int_eq(gp_source_open(&source, &config, &diag),
				 GP_OK);
		ck_assert_uint_eq(read_all(&source, plain), PLAIN_BYTES);
		ck_assert_int_eq(gp_source_fd(&source, &size), -1);
		ck_assert_str_eq(diag.file, "memory");
		gp_source_close(&source);
		free(exact);
	}
	free(packed);
	free(plain);
}
END_TEST

static void note(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *last = arg;

	ck_assert_uint_ge(done, last[0]);
	last[0] = done;
	last[1] = total;
}

START_TEST(test_progress_is_of_the_file)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *packed = malloc(2 * PLAIN_BYTES);
	size_t n = pack_gzip(plain, PLAIN_BYTES, packed, 2 * PLAIN_BYTES);
	uint64_t last[2] = { 0, 0 };
	struct reader reader = { .config = { .progress = note,
					     .progress_arg = last } };

	ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
	read_all(&reader.source, plain);
	ck_assert_uint_eq(last[0], n);
	ck_assert_uint_eq(last[1], n);
	close_bytes(&reader);
	free(packed);
	free(plain);
}
END_TEST

START_TEST(test_only_a_plain_file_can_be_mapped)
{
	unsigned char plain[100] = "abc", packed[1000];
	size_t n = pack_gzip(plain, sizeof(plain), packed, sizeof(packed));
	struct reader reader = { .file = NULL };
	uint64_t size = 0;

	ck_assert_int_eq(open_bytes(&reader, plain, sizeof(plain)), GP_OK);
	ck_assert_int_ge(gp_source_fd(&reader.source, &size), 0);
	ck_assert_uint_eq(size, sizeof(plain));
	close_bytes(&reader);
	ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
	ck_assert_int_eq(gp_source_fd(&reader.source, &size), -1);
	close_bytes(&reader);
}
END_TEST

/* A pipe returns what is in it, however little. */
START_TEST(test_a_pipe_is_read_to_its_end)
{
	struct gp_input_config config = { 0 };
	struct gp_source source;
	struct gp_diag diag = { 0 };
	char path[32];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "hello", 5), 5);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	config.path = path;
	ck_assert_int_eq(gp_source_open(&source, &config, &diag), GP_OK);
	ck_assert_int_eq(source.end - source.at, 5);
	ck_assert(!memcmp(source.at, "hello", 5));
	ck_assert(!gp_source_more(&source));
	ck_assert_int_eq(source.status, GP_OK);
	gp_source_close(&source);
	close(ends[0]);
}
END_TEST

START_TEST(test_what_cannot_be_read_is_explained)
{
	static const struct {
		const char *path, *what;
	} rows[] = {
		{ "no/such/file", "cannot open it: No such file or directory" },
		{ "/", "it is a directory" },
		{ "/dev/null", "it is empty" },
		{ "/dev/zero", "it begins with zeros only" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_input_config config = { .path = rows[i].path };
		struct gp_trace *trace = NULL;
		struct gp_diag diag = { 0 };

		ck_assert_int_eq(gp_input_read(&config, &trace, &diag),
				 GP_INPUT);
		ck_assert_ptr_null(trace);
		ck_assert_str_eq(diag.file, rows[i].path);
		ck_assert_str_eq(diag.what, rows[i].what);
	}
}
END_TEST

/* If three known bytes come first, each of them is checked. */
START_TEST(test_what_is_nearly_packed_is_not)
{
	static const unsigned char heads[][5] = {
		{ 0x1f, 0x8b, 8, 0, 0 },   { 'a', 0x8b, 8, 0, 0 },
		{ 0x1f, 'a', 8, 0, 0 },	   { 0x1f, 0x8b, 'a', 0, 0 },
		{ 0x28, 0xb5, 0x2f, 'a' }, { 0x28, 0xb5, 'a', 0xfd },
		{ 0x28, 'a', 0x2f, 0xfd }, { 'a', 0xb5, 0x2f, 0xfd },
	};

	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		struct reader reader = { .file = NULL };
		enum gp_status status =
			open_bytes(&reader, heads[i], sizeof(heads[i]));

		ck_assert_int_eq(status, i ? GP_OK : GP_INPUT);
		close_bytes(&reader);
	}
}
END_TEST

/* Texts with some of the marks of a page or of UTF-16 are read unchanged. */
START_TEST(test_what_is_nearly_a_page_or_wide_is_neither)
{
	static const struct {
		const char *text, *read;
	} rows[] = {
#define DATA "\"base64\": \"QUJD\""
		{ " \n<MemoryViz " DATA, "ABC" },
		{ "<MemoryViz \"base64\": 7 " DATA, "ABC" },
		{ "<MemoryVi " DATA, NULL },
		{ "MemoryViz " DATA, NULL },
		{ "<MemoryViz \"base64\": QUJD\"", NULL },
		{ "\xff\xfe"
		  "A\0",
		  "A" },
		{ "\xfe\xff\0A", "A" },
		{ "\xff\xff"
		  "AB",
		  NULL },
		{ "\xfe\xfe"
		  "AB",
		  NULL },
		{ "A\xfe"
		  "AB",
		  NULL },
		{ "A\xff"
		  "AB",
		  NULL },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *text = rows[i].text;
		const char *read = rows[i].read ? rows[i].read : text;
		size_t n =
			*text == '\xff' || *text == '\xfe' ? 4 : strlen(text);
		struct reader reader = { .file = NULL };

		ck_assert_int_eq(open_bytes(&reader, (const void *)text, n),
				 GP_OK);
		ck_assert_uint_eq(read_all(&reader.source, (const void *)read),
				  rows[i].read ? strlen(read) : n);
		close_bytes(&reader);
	}
}
END_TEST

/* A page or UTF-16, packed. */
START_TEST(test_what_was_packed_is_recognised)
{
	static const struct {
		const char *text, *read;
		size_t n;
	} rows[] = {
		{ "<MemoryViz " DATA, "ABC", 27 },
		{ "\xff\xfe"
		  "A\0B\0C\0",
		  "ABC", 8 },
		{ "ABC", "ABC", 3 },
	};

	for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(packings); i++) {
		const char *text = rows[i / COUNT_OF(packings)].text;
		const char *read = rows[i / COUNT_OF(packings)].read;
		unsigned char packed[256];
		struct reader reader = { .file = NULL };
		size_t n = packings[i % COUNT_OF(packings)].pack(
			(const void *)text, rows[i / COUNT_OF(packings)].n,
			packed, sizeof(packed));

		ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
		ck_assert_uint_eq(read_all(&reader.source, (const void *)read),
				  3);
		ck_assert_int_eq(reader.source.status, GP_OK);
		close_bytes(&reader);
	}
}
END_TEST

/* The file is the first one of the process, and an earlier call was
 * interrupted. */
START_TEST(test_an_end_is_one_whatever_was_before)
{
	struct reader reader = { .file = NULL };

	reader.file = file_of((const unsigned char *)"abc", 3);
	snprintf(reader.path, sizeof(reader.path), "/dev/fd/%d",
		 fileno(reader.file));
	reader.config.path = reader.path;
	close(STDIN_FILENO);
	errno = EINTR;
	ck_assert_int_eq(
		gp_source_open(&reader.source, &reader.config, &reader.diag),
		GP_OK);
	ck_assert_int_eq(reader.source.fd, STDIN_FILENO);
	errno = EINTR;
	ck_assert_uint_eq(read_all(&reader.source, (const void *)"abc"), 3);
	close_bytes(&reader);
}
END_TEST

START_TEST(test_something_must_be_given)
{
	const struct gp_input_config config = { .path = NULL };
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_input_read(&config, &trace, &diag), GP_USAGE);
	ck_assert_ptr_null(trace);
}
END_TEST

/* Each character, except surrogates, as UTF-32 in this machine's byte order. */
static uint32_t *all_characters(size_t *count)
{
	uint32_t *all = malloc(0x110000 * sizeof(*all));

	*count = 0;
	for (uint32_t c = 1; c < 0x110000; c++)
		if (c < 0xd800 || c >= 0xe000)
			all[(*count)++] = c;
	return all;
}

static unsigned char *converted(const char *to, const uint32_t *from,
				size_t count, size_t *length)
{
	iconv_t way = iconv_open(to, "UTF-32LE");
	size_t in_left = count * sizeof(*from), left = in_left + 16;
	unsigned char *made = malloc(left);
	char *in = (char *)from, *out = (char *)made;

	ck_assert(way != (iconv_t)-1);
	ck_assert(iconv(way, &in, &in_left, &out, &left) != (size_t)-1);
	iconv_close(way);
	*length = (size_t)((unsigned char *)out - made);
	return made;
}

START_TEST(test_utf16_is_read_as_utf8)
{
	static const char *const kinds[] = { "UTF-16LE", "UTF-16BE" };
	size_t count, want_length, length;
	uint32_t *all = all_characters(&count);
	unsigned char *want = converted("UTF-8", all, count, &want_length);

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct reader reader = { .file = NULL };
		unsigned char *wide, *marked;

		wide = converted(kinds[i], all, count, &length);
		marked = malloc(length + 2);
		memcpy(marked, i ? "\xfe\xff" : "\xff\xfe", 2);
		memcpy(marked + 2, wide, length);
		ck_assert_int_eq(open_bytes(&reader, marked, length + 2),
				 GP_OK);
		ck_assert_uint_eq(read_all(&reader.source, want), want_length);
		close_bytes(&reader);
		free(marked);
		free(wide);
	}
	free(want);
	free(all);
}
END_TEST

/* The snapshot in a page may be larger than what is read at once. */
START_TEST(test_a_page_is_read_to_its_end)
{
	static const char head[] = "<script>MemoryViz({\"base64\": \"";
	const size_t groups = PLAIN_BYTES / 3;
	struct reader reader = { .file = NULL };
	char *page = malloc(sizeof(head) + 4 * groups);
	unsigned char *want = malloc(3 * groups);
	size_t n = sizeof(head) - 1;

	memcpy(page, head, n);
	for (size_t i = 0; i < groups; i++) {
		memcpy(page + n, i % 2 ? "QUJD" : "eHl6", 4);
		memcpy(want + 3 * i, i % 2 ? "ABC" : "xyz", 3);
		n += 4;
	}
	page[n++] = '"';
	ck_assert_int_eq(open_bytes(&reader, (unsigned char *)page, n), GP_OK);
	ck_assert_uint_eq(read_all(&reader.source, want), 3 * groups);
	ck_assert_int_eq(reader.source.status, GP_OK);
	close_bytes(&reader);
	free(page);
	free(want);
}
END_TEST

START_TEST(test_so_much_is_unpacked_and_no_more)
{
	unsigned char *plain = plain_bytes(PLAIN_BYTES);
	unsigned char *packed = malloc(2 * PLAIN_BYTES);

	for (size_t i = 1; i < COUNT_OF(packings); i++)
		for (uint64_t less = 0; less < 2; less++) {
			struct reader reader = { .file = NULL };
			size_t n = packings[i].pack(plain, PLAIN_BYTES, packed,
						    2 * PLAIN_BYTES);

			reader.config.most_bytes = PLAIN_BYTES - less;
			ck_assert_int_eq(open_bytes(&reader, packed, n), GP_OK);
			read_all(&reader.source, plain);
			ck_assert_int_eq(reader.source.status,
					 less ? GP_INPUT : GP_OK);
			close_bytes(&reader);
		}
	free(plain);
	free(packed);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_all_bytes_arrive, 0 },
		{ test_files_are_closed, 0 },
		{ test_members_and_frames_follow_each_other, 0 },
		{ test_skippable_frames_are_left_out, 0 },
		{ test_zeros_behind_gzip_are_left_out, 0 },
		{ test_cut_streams_are_errors, 0 },
		{ test_damaged_streams_are_errors, 0 },
		{ test_unread_bytes_are_kept, 0 },
		{ test_bytes_in_memory_are_read_as_a_file_is, 0 },
		{ test_bytes_are_taken_across_windows, 0 },
		{ test_progress_is_of_the_file, 0 },
		{ test_only_a_plain_file_can_be_mapped, 0 },
		{ test_a_pipe_is_read_to_its_end, 0 },
		{ test_what_cannot_be_read_is_explained, 0 },
		{ test_what_is_nearly_packed_is_not, 0 },
		{ test_what_is_nearly_a_page_or_wide_is_neither, 0 },
		{ test_what_was_packed_is_recognised, 0 },
		{ test_an_end_is_one_whatever_was_before, 0 },
		{ test_something_must_be_given, 0 },
		{ test_utf16_is_read_as_utf8, 0 },
		{ test_a_page_is_read_to_its_end, 0 },
		{ test_so_much_is_unpacked_and_no_more, 0 },
	};

	return suite_run("source", tests, COUNT_OF(tests));
}
