/* SPDX-License-Identifier: MIT */
/* Sizes as people read and write them: a table of texts and their values. */
#include "base/bytes.h"

#include <inttypes.h>

#include "suite.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

START_TEST(test_sizes_are_shown_with_three_digits)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ KIB, "1.00 KiB" },
		{ 1536, "1.50 KiB" },
		{ MIB - 1, "1.00 MiB" },
		{ 20 * MIB, "20.00 MiB" },
		{ 100 * MIB, "100.0 MiB" },
		{ 80 * GIB, "80.00 GiB" },
		{ 3 * TIB / 2, "1.50 TiB" },
		{ UINT64_MAX, "16.00 EiB" },
	};
	char text[GP_BYTES_TEXT];

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_str_eq(gp_bytes_text(rows[i].bytes, text),
				 rows[i].text);
}
END_TEST

START_TEST(test_exact_sizes_are_read_back_the_same)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1000, "1000" },
		{ 3 * KIB, "3KiB" },
		{ 48 * GIB, "48GiB" },
		{ 1536 * MIB, "1536MiB" },
		{ 48 * GIB + 1, "51539607553" },
		{ 4096 * TIB, "4096TiB" },
	};
	char text[GP_BYTES_TEXT];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t back = 1;

		ck_assert_str_eq(gp_bytes_exact(rows[i].bytes, text),
				 rows[i].text);
		ck_assert(gp_bytes_parse(text, &back));
		ck_assert_uint_eq(back, rows[i].bytes);
	}
}
END_TEST

START_TEST(test_counts_are_shown_in_threes)
{
	static const struct {
		uint64_t count;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 12345678, "12,345,678" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char text[GP_COUNT_TEXT];
	uint64_t back;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		ck_assert_str_eq(gp_count_text(rows[i].count, text),
				 rows[i].text);
		ck_assert(gp_count_parse(text, &back));
		ck_assert_uint_eq(back, rows[i].count);
		snprintf(text, sizeof(text), "%" PRIu64, rows[i].count);
		ck_assert(gp_count_parse(text, &back));
		ck_assert_uint_eq(back, rows[i].count);
	}
	ck_assert(gp_count_parse("0012", &back));
	ck_assert_uint_eq(back, 12);
}
END_TEST

START_TEST(test_what_is_no_count)
{
	static const char *const rows[] = {
		"",
		",",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1.0",
		"1e3",
		"0x1",
		"1,00",
		"1,0000",
		"1000,000",
		"1,,000",
		"1,",
		",100",
		"0,100",
		"18446744073709551616",
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t count = 7;

		ck_assert_msg(!gp_count_parse(rows[i], &count), "%s", rows[i]);
		ck_assert_uint_eq(count, 7);
	}
}
END_TEST

START_TEST(test_what_people_write_is_understood)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "0", 0 },
		{ "85899345920", 80 * GIB },
		{ "80GiB", 80 * GIB },
		{ "80 gib", 80 * GIB },
		{ "512 MiB", 512 * MIB },
		{ "1.5g", 3 * GIB / 2 },
		{ ".5k", 512 },
		{ "7b", 7 },
		{ "2T", 2 * TIB },
		/* as people name a GPU's memory */
		{ "80GB", 80 * GIB },
		{ "80g", 80 * GIB },
		{ "128MB", 128 * MIB },
		{ "4 kb", 4 * KIB },
		{ "1e9", 1000000000 },
		{ "8.5E+10", 85000000000 },
		{ "2e1GiB", 20 * GIB },
		{ "3.0", 3 },
		/* exact beyond what a double holds */
		{ "9007199254740993", UINT64_C(9007199254740993) },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t bytes = 1;

		ck_assert_msg(gp_bytes_parse(rows[i].text, &bytes), "%s",
			      rows[i].text);
		ck_assert_uint_eq(bytes, rows[i].bytes);
	}
}
END_TEST

START_TEST(test_the_rest_is_refused)
{
	static const char *const rows[] = {
		"",
		" ",
		"-1",
		"+1",
		"GiB",
		"1 GiBs",
		"1 2",
		"1xx",
		"inf",
		"nan",
		"1.5", /* of what? */
		".",
		".b",
		"1e",
		"1e-3",
		"0x10",
		"1.5b",
		"1e9999",
		"1e30",
		"17EiB",
		"16777216TiB",
		"18446744073709551616",
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t bytes = 7;

		ck_assert_msg(!gp_bytes_parse(rows[i], &bytes),
			      "\"%s\" is %llu", rows[i],
			      (unsigned long long)bytes);
		ck_assert_uint_eq(bytes, 7);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_sizes_are_shown_with_three_digits, 0 },
		{ test_exact_sizes_are_read_back_the_same, 0 },
		{ test_counts_are_shown_in_threes, 0 },
		{ test_what_is_no_count, 0 },
		{ test_what_people_write_is_understood, 0 },
		{ test_the_rest_is_refused, 0 },
	};

	return suite_run("bytes", tests, COUNT_OF(tests));
}
