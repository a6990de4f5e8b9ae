/* SPDX-License-Identifier: MIT */
/* Pickles as CPython's pickle.dumps writes them, byte for byte, except for
 * frames and for what it memoizes. */
#include "report/exchange/pickler.h"

#include <stdlib.h>
#include <string.h>

#include "report/exchange/exchange.h"
#include "suite.h"

struct written {
	struct pickler pickler;
	FILE *file;
	char *bytes;
	size_t size;
};

static struct written *begin(void)
{
	struct written *w = calloc(1, sizeof(*w));

	w->file = open_memstream(&w->bytes, &w->size);
	pickler_begin(&w->pickler, w->file);
	return w;
}

/* Compares the bytes after the protocol with the expected ones; frees them. */
static void must_be(struct written *w, const char *bytes, size_t size)
{
	pickler_end(&w->pickler);
	fclose(w->file);
	ck_assert_uint_eq(w->size, size + 3);
	ck_assert_mem_eq(w->bytes, "\x80\x04", 2);
	ck_assert_mem_eq(w->bytes + 2, bytes, size);
	ck_assert_int_eq(w->bytes[size + 2], '.');
	free(w->bytes);
	free(w);
}

#define MUST_BE(written, bytes) must_be(written, bytes, sizeof(bytes) - 1)

static const struct {
	uint64_t value;
	const char *bytes;
	size_t size;
} numbers[] = {
	{ 0, "K\0", 2 },
	{ 255, "K\xff", 2 },
	{ 256, "M\0\1", 3 },
	{ 65535, "M\xff\xff", 3 },
	{ 65536, "J\0\0\1\0", 5 },
	{ 0x7fffffff, "J\xff\xff\xff\x7f", 5 },
	{ 0x80000000, "\x8a\5\0\0\0\x80\0", 7 },
	{ 0x7fffffffff, "\x8a\5\xff\xff\xff\xff\x7f", 7 },
	{ UINT64_MAX, "\x8a\11\xff\xff\xff\xff\xff\xff\xff\xff\0", 11 },
};

START_TEST(test_numbers_keep_their_sign)
{
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		struct written *w = begin();

		pickler_uint(&w->pickler, numbers[i].value);
		must_be(w, numbers[i].bytes, numbers[i].size);
	}
}
END_TEST

START_TEST(test_values_have_their_opcodes)
{
	struct written *w = begin();

	pickler_int(&w->pickler, -1);
	pickler_real(&w->pickler, 0.5);
	pickler_bool(&w->pickler, true);
	pickler_bool(&w->pickler, false);
	pickler_pair(&w->pickler, 1, 2);
	pickler_text(&w->pickler, "abc", 2);
	pickler_int(&w->pickler, INT64_MIN + 1);
	pickler_int(&w->pickler, 0);
	pickler_int(&w->pickler, INT32_MIN);
	MUST_BE(w, "J\xff\xff\xff\xff"
		   "G\x3f\xe0\0\0\0\0\0\0\x88\x89K\1K\2\x86\x8c\2"
		   "ab\x8a\10\1\0\0\0\0\0\0\x80K\0J\0\0\0\x80");
}
END_TEST

START_TEST(test_what_is_kept_comes_by_number)
{
	struct written *w = begin();
	uint32_t first, last = 0;

	pickler_open_dict(&w->pickler);
	pickler_text(&w->pickler, "a", 1);
	first = pickler_keep(&w->pickler);
	pickler_again(&w->pickler, first);
	pickler_close_dict(&w->pickler);
	MUST_BE(w, "}(\x8c\1a\x94h\0u");
	w = begin();
	for (int i = 0; i < 257; i++)
		last = pickler_keep(&w->pickler);
	pickler_again(&w->pickler, last);
	pickler_end(&w->pickler);
	fclose(w->file);
	ck_assert_mem_eq(w->bytes + 2 + 257, "j\0\1\0\0.", 6);
	free(w->bytes);
	free(w);
}
END_TEST

static size_t list_size(size_t items)
{
	struct written *w = begin();
	struct pickler_list list = pickler_open_list(&w->pickler);
	size_t size;

	for (size_t i = 0; i < items; i++) {
		pickler_item(&w->pickler, &list);
		pickler_bool(&w->pickler, true);
	}
	pickler_close_list(&w->pickler, &list);
	pickler_end(&w->pickler);
	fclose(w->file);
	size = w->size - 3;
	free(w->bytes);
	free(w);
	return size;
}

START_TEST(test_lists_go_in_batches)
{
	ck_assert_uint_eq(list_size(0), 1);
	ck_assert_uint_eq(list_size(1), 1 + 1 + 2);
	ck_assert_uint_eq(list_size(1000), 1 + 1000 + 2);
	ck_assert_uint_eq(list_size(1001), 1 + 1001 + 4);
}
END_TEST

START_TEST(test_a_long_text_is_whole)
{
	static char text[3 * PICKLER_BUFFER];
	struct written *w = begin();

	memset(text, 'x', sizeof(text));
	pickler_text(&w->pickler, text, sizeof(text));
	pickler_end(&w->pickler);
	fclose(w->file);
	ck_assert_uint_eq(w->size, 3 + 5 + sizeof(text));
	ck_assert_mem_eq(w->bytes + 7, text, sizeof(text));
	free(w->bytes);
	free(w);
}
END_TEST

/* A short text has its length in one byte; texts of different lengths fill the
 * buffer at different places. */
START_TEST(test_texts_of_each_length_follow_each_other)
{
	const size_t most = 300;
	struct written *w = begin();
	const unsigned char *at;
	char text[300];

	for (size_t i = 0; i < most; i++)
		text[i] = (char)('a' + i % 26);
	for (size_t n = 0; n < most; n++)
		pickler_text(&w->pickler, text, n);
	pickler_end(&w->pickler);
	fclose(w->file);
	at = (const unsigned char *)w->bytes + 2;
	for (size_t n = 0; n < most; n++) {
		if (n < 256) {
			ck_assert_int_eq(at[0], 0x8c);
			ck_assert_uint_eq(at[1], n);
			at += 2;
		} else {
			ck_assert_int_eq(at[0], 'X');
			ck_assert_uint_eq(at[1] + 256u * at[2], n);
			ck_assert_int_eq(at[3] | at[4], 0);
			at += 5;
		}
		ck_assert_mem_eq(at, text, n);
		at += n;
	}
	ck_assert_int_eq(*at, '.');
	free(w->bytes);
	free(w);
}
END_TEST

static const struct {
	const char *text, *file, *name;
	uint64_t line;
} frames[] = {
	{ "train.py:42 forward", "train.py", "forward", 42 },
	{ "C:\\a b\\train.py:7 <module>", "C:\\a b\\train.py", "<module>", 7 },
	{ "at::empty(int, long)", "", "at::empty(int, long)", 0 },
	{ "a.py:042 f", "", "a.py:042 f", 0 },
	{ "a.py:99999999999999999999 f", "", "a.py:99999999999999999999 f", 0 },
	{ "a.py:1", "", "a.py:1", 0 },
	{ ":1 ", "", "", 1 },
	{ "", "", "", 0 },
};

START_TEST(test_frames_come_apart)
{
	for (size_t i = 0; i < COUNT_OF(frames); i++) {
		struct frame_parts frame = frame_parts_of(frames[i].text);

		ck_assert_uint_eq(frame.line, frames[i].line);
		ck_assert_uint_eq(frame.file_length, strlen(frames[i].file));
		ck_assert_mem_eq(frame.file, frames[i].file, frame.file_length);
		ck_assert_str_eq(frame.name, frames[i].name);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_numbers_keep_their_sign, 0 },
		{ test_values_have_their_opcodes, 0 },
		{ test_what_is_kept_comes_by_number, 0 },
		{ test_lists_go_in_batches, 0 },
		{ test_a_long_text_is_whole, 0 },
		{ test_texts_of_each_length_follow_each_other, 0 },
		{ test_frames_come_apart, 0 },
	};

	return suite_run("pickler", tests, COUNT_OF(tests));
}
