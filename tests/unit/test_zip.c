/* SPDX-License-Identifier: MIT */
/* Traces in zip files, and in the pages that PyTorch's memory_viz writes. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/source.h"

#define ROOM 4096

static const char text[] =
	"{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":[]} "
	"and some more, so that it is worth while to deflate it: "
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

struct bytes {
	unsigned char at[ROOM];
	size_t n;
};

static void put(struct bytes *b, const void *from, size_t n)
{
	ck_assert_uint_le(b->n + n, ROOM);
	memcpy(b->at + b->n, from, n);
	b->n += n;
}

/* Little-endian numbers, each preceded by its width; 0 ends the list. */
static void put_numbers(struct bytes *b, const uint64_t *list)
{
	for (; *list; list += 2)
		for (uint64_t i = 0; i < list[0]; i++) {
			unsigned char byte = (unsigned char)(list[1] >> 8 * i);

			put(b, &byte, 1);
		}
}

#define NUMBERS(b, ...) put_numbers(b, (uint64_t[]){ __VA_ARGS__, 0 })

/* ---- zip files ---- */

struct file {
	const char *name;
	bool is_deflated, is_encrypted, is_wide;
	uint64_t method; /* 0: as for is_deflated */
};

static size_t pack(const struct file *file, unsigned char *to)
{
	z_stream z = { 0 };

	if (!file->is_deflated) {
		memcpy(to, text, sizeof(text));
		return sizeof(text);
	}
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = sizeof(text);
	z.next_out = to;
	z.avail_out = ROOM;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return ROOM - z.avail_out;
}

/* The local header has no sizes, as in a stream's; only the directory
 * counts. */
static void put_local(struct bytes *b, const struct file *file)
{
	NUMBERS(b, 4, 0x04034b50, 2, 20, 2, 8, 2, 0, 4, 0, 4, 0, 4, 0, 4, 0, 2,
		strlen(file->name), 2, 3);
	put(b, file->name, strlen(file->name));
	put(b, "xyz", 3);
}

static void put_entry(struct bytes *b, const struct file *file, size_t at,
		      size_t packed)
{
	uint64_t method =
		file->method ? file->method : 8 * (uint64_t)file->is_deflated;
	uint64_t wide = 0xffffffff;

	NUMBERS(b, 4, 0x02014b50, 2, 20, 2, 20, 2, file->is_encrypted, 2,
		method, 4, 0, 4, 0);
	NUMBERS(b, 4, file->is_wide ? wide : packed, 4,
		file->is_wide ? wide : sizeof(text), 2, strlen(file->name), 2,
		file->is_wide ? 33 : 0, 2, 2);
	NUMBERS(b, 2, 0, 2, 0, 4, 0, 4, file->is_wide ? wide : at);
	put(b, file->name, strlen(file->name));
	if (file->is_wide)
		NUMBERS(b, 2, 7, 2, 1, 1, 0, 2, 1, 2, 24, 8, sizeof(text), 8,
			packed, 8, at);
	put(b, "??", 2); /* a comment */
}

/* is_wide: with an end of directory for more than 32 bits. */
static struct bytes zip_of(const struct file *files, bool is_wide)
{
	struct bytes b = { .n = 0 };
	size_t at[4], packed[4], count = 0, directory, end;

	for (; files[count].name; count++) {
		unsigned char bytes[ROOM];

		at[count] = b.n;
		packed[count] = pack(&files[count], bytes);
		put_local(&b, &files[count]);
		put(&b, bytes, packed[count]);
	}
	directory = b.n;
	for (size_t i = 0; i < count; i++)
		put_entry(&b, &files[i], at[i], packed[i]);
	end = b.n;
	if (is_wide) {
		NUMBERS(&b, 4, 0x06064b50, 8, 44, 2, 45, 2, 45, 4, 0, 4, 0, 8,
			count, 8, count, 8, end - directory, 8, directory);
		NUMBERS(&b, 4, 0x07064b50, 4, 0, 8, end, 4, 1);
	}
	NUMBERS(&b, 4, 0x06054b50, 2, 0, 2, 0, 2, count, 2, count, 4,
		end - directory, 4, is_wide ? 0xffffffff : directory, 2, 7);
	put(&b, "comment", 7);
	return b;
}

/* ---- reading ---- */

struct reader {
	struct gp_source source;
	struct gp_input_config config;
	struct gp_diag diag;
};

static enum gp_status open_bytes(struct reader *reader, const void *bytes,
				 size_t n)
{
	*reader = (struct reader){
		.config = { .bytes = bytes, .length = n },
	};
	return gp_source_open(&reader->source, &reader->config, &reader->diag);
}

static bool is_text(struct gp_source *source)
{
	bool is_same = gp_source_need(source, sizeof(text)) &&
		       !memcmp(source->at, text, sizeof(text));

	source->at = source->end;
	return is_same && !gp_source_more(source) && source->status == GP_OK;
}

#define TEN "0123456789"
#define LONG                                                                   \
	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN    \
		TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

START_TEST(test_the_only_file_is_read)
{
	static const struct {
		struct file files[4];
		bool is_wide;
	} zips[] = {
		{ { { .name = "snapshot.pickle" } }, false },
		{ { { .name = "snapshot.pickle", .is_deflated = true } },
		  false },
		{ { { .name = "s", .is_wide = true } }, false },
		{ { { .name = "s", .is_deflated = true, .is_wide = true } },
		  true },
		/* Entries that archivers add do not count. */
		{ { { .name = "run/" },
		    { .name = "run/s.pickle", .is_deflated = true },
		    { .name = "__MACOSX/run/._s.pickle" } },
		  false },
		{ { { .name = "s" }, { .name = "run/.DS_Store" } }, false },
		/* The end of a long name counts. */
		{ { { .name = "run/" LONG "/s.pickle" },
		    { .name = "run/" LONG "/" },
		    { .name = "run/" LONG "/.DS_Store" } },
		  false },
		/* torch.save() of a snapshot. */
		{ { { .name = "s/data.pkl" },
		    { .name = "s/version", .method = 99 },
		    { .name = "s/byteorder" } },
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(zips); i++) {
		struct bytes b = zip_of(zips[i].files, zips[i].is_wide);
		struct reader reader;

		ck_assert_int_eq(open_bytes(&reader, b.at, b.n), GP_OK);
		ck_assert(is_text(&reader.source));
		gp_source_close(&reader.source);
	}
}
END_TEST

START_TEST(test_what_is_not_one_trace)
{
	static const struct {
		struct file files[4];
		const char *why;
		bool is_foreign; /* in a folder it is skipped */
	} zips[] = {
		{ { { .name = "a" }, { .name = "b" } },
		  "it is a zip file of several files, and not of one trace",
		  true },
		{ { { .name = "run/" } },
		  "it is a zip file without a file",
		  true },
		{ { { .name = "m/data.pkl" }, { .name = "m/data/0" } },
		  "it is a checkpoint that torch.save wrote, not a trace",
		  true },
		{ { { .name = "a", .is_encrypted = true } },
		  "the file in the zip file is encrypted, or "
		  "compressed by another method than deflate",
		  false },
		{ { { .name = "a", .method = 93 } },
		  "the file in the zip file is encrypted, or "
		  "compressed by another method than deflate",
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(zips); i++) {
		struct bytes b = zip_of(zips[i].files, false);
		struct reader reader;

		ck_assert_int_eq(open_bytes(&reader, b.at, b.n), GP_INPUT);
		ck_assert_str_eq(reader.diag.what, zips[i].why);
		ck_assert_int_eq(reader.diag.is_foreign, zips[i].is_foreign);
	}
}
END_TEST

/* Any part of a zip file, and the file with any byte changed, is refused or is
 * still the text: nothing outside of it is read. */
START_TEST(test_damaged_zips)
{
	static const struct file files[] = {
		{ .name = "s", .is_deflated = true, .is_wide = true },
		{ .name = NULL },
	};
	struct bytes whole = zip_of(files, true);

	for (size_t i = 4; i < 2 * whole.n; i++) {
		unsigned char *bytes = malloc(whole.n);
		bool is_cut = i < whole.n;
		struct reader reader;

		memcpy(bytes, whole.at, whole.n);
		if (!is_cut)
			bytes[i - whole.n] ^= 0xff;
		if (open_bytes(&reader, bytes, is_cut ? i : whole.n) == GP_OK) {
			while (gp_source_more(&reader.source))
				reader.source.at = reader.source.end;
			gp_source_close(&reader.source);
		}
		/* The comment may be cut off. */
		if (is_cut && i < whole.n - strlen("comment"))
			ck_assert_int_eq(reader.source.status, GP_INPUT);
		free(bytes);
	}
}
END_TEST

/* Nothing but a record is read as a record. */
START_TEST(test_each_record_has_its_mark)
{
	static const struct file files[] = { { .name = "s" },
					     { .name = NULL } };
	struct bytes whole = zip_of(files, true);
	unsigned marks = 0;

	for (size_t i = 0; i + 1 < whole.n; i++) {
		struct reader reader;

		if (memcmp(whole.at + i, "PK", 2) != 0)
			continue;
		marks++;
		for (size_t k = i; k < i + 4; k++) {
			whole.at[k] ^= 0x40;
			if (open_bytes(&reader, whole.at, whole.n) == GP_OK) {
				ck_assert(!is_text(&reader.source));
				gp_source_close(&reader.source);
			}
			whole.at[k] ^= 0x40;
		}
	}
	/* of the file, of its entry, and three of the directory's end */
	ck_assert_uint_eq(marks, 5);
}
END_TEST

/* A comment has at most 65,535 bytes, so the directory's end is not further
 * from the end of the file. */
START_TEST(test_the_directory_ends_in_the_last_65557_bytes)
{
	static const struct file files[] = { { .name = "s" },
					     { .name = NULL } };
	struct bytes whole = zip_of(files, false);
	size_t end = whole.n - strlen("comment");

	for (size_t n = 65535; n <= 65536; n++) {
		unsigned char *bytes = calloc(end + n, 1);
		struct reader reader;

		memcpy(bytes, whole.at, end);
		if (n == 65535) {
			ck_assert_int_eq(open_bytes(&reader, bytes, end + n),
					 GP_OK);
			ck_assert(is_text(&reader.source));
			gp_source_close(&reader.source);
		} else {
			ck_assert_int_eq(open_bytes(&reader, bytes, end + n),
					 GP_INPUT);
		}
		free(bytes);
	}
}
END_TEST

/* ---- pages ---- */

#define PAGE_BEGIN                                                             \
	"\n<!DOCTYPE html>\n<script>import {add_local_files} from "            \
	"\"https://x/MemoryViz.js\"\nconst local_files = [{\"name\": \"a\", "  \
	"\"base64\": \""
#define PAGE_END "\"}]\nadd_local_files(local_files, \"x\")\n</script>"

static enum gp_status read_page(const char *data, const char *end, char *got,
				struct reader *reader)
{
	char page[ROOM];
	enum gp_status status;
	size_t n;

	snprintf(page, sizeof(page), "%s%s%s", PAGE_BEGIN, data, end);
	status = open_bytes(reader, page, strlen(page));
	if (status != GP_OK)
		return status;
	n = (size_t)(reader->source.end - reader->source.at);
	memcpy(got, reader->source.at, n);
	got[n] = '\0';
	gp_source_close(&reader->source);
	return GP_OK;
}

START_TEST(test_snapshots_in_pages)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Pj4+Pz8/", ">>>???" },
	};
	struct reader reader;
	char got[ROOM];

	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		ck_assert_int_eq(read_page(pairs[i][0], PAGE_END, got, &reader),
				 GP_OK);
		ck_assert_str_eq(got, pairs[i][1]);
	}
	ck_assert_int_eq(read_page("Zm9v", "", got, &reader), GP_INPUT);
	ck_assert_str_eq(reader.diag.what, "the page ends early");
	ck_assert_int_eq(read_page("Zm 9v", PAGE_END, got, &reader), GP_INPUT);
	ck_assert_str_eq(reader.diag.what,
			 "the snapshot in the page is damaged");
}
END_TEST

/* Four times each character. */
START_TEST(test_each_digit_of_a_page_has_its_value)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";

	for (unsigned c = 1; c < 256; c++) {
		const char four[] = { (char)c, (char)c, (char)c, (char)c, 0 };
		const char *digit = strchr(digits, (int)c);
		unsigned value = digit ? (unsigned)(digit - digits) : 0;
		struct reader reader;
		char got[ROOM];

		if (c == '"' || c == '=') /* they end the data */
			continue;
		ck_assert_msg(read_page(four, PAGE_END, got, &reader) ==
				      (digit ? GP_OK : GP_INPUT),
			      "%u", c);
		if (!digit)
			continue;
		value |= value << 6 | value << 12 | value << 18;
		for (int i = 0; i < 3; i++)
			ck_assert_uint_eq((unsigned char)got[i],
					  value >> (16 - 8 * i) & 0xff);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_the_only_file_is_read, 0 },
		{ test_what_is_not_one_trace, 0 },
		{ test_damaged_zips, 0 },
		{ test_each_record_has_its_mark, 0 },
		{ test_the_directory_ends_in_the_last_65557_bytes, 0 },
		{ test_snapshots_in_pages, 0 },
		{ test_each_digit_of_a_page_has_its_value, 0 },
	};

	return suite_run("zip", tests, COUNT_OF(tests));
}
