/* SPDX-License-Identifier: MIT */
/* Formats are recognised by how a file begins, even if the file ends there. */
#include "gpupool/input.h"

#include <string.h>

#include "suite.h"
#include "trace_text.h"

#define NOT_RECOGNISED "its format is not recognised"

static const struct {
	const char *begin;
	size_t n; /* without the last byte it is not recognised */
	const char *what;
} rows[] = {
#define ROW(begin, what)                                                       \
	{                                                                      \
		begin, sizeof(begin) - 1, what                                 \
	}
	ROW(GP_BINARY_MAGIC, "it is damaged: it is too short to be a binary "
			     "trace"),
	ROW("version https://git-lfs",
	    "it is a pointer to a file in Git LFS, not a trace"),
	ROW("(dp", "it is a pickle of protocol 0"),
	ROW("(lp", "it is a pickle of protocol 0"),
};

static const char *what_of(const char *bytes, size_t n)
{
	static struct gp_diag diag;
	struct gp_trace *trace;

	ck_assert_int_eq(try_bytes(bytes, n, &trace, &diag), GP_INPUT);
	return diag.what;
}

START_TEST(the_beginning_is_enough)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		ck_assert_str_eq(what_of(rows[i].begin, rows[i].n),
				 rows[i].what);
		ck_assert_str_eq(what_of(rows[i].begin, rows[i].n - 1),
				 NOT_RECOGNISED);
	}
}
END_TEST

START_TEST(so_is_a_single_byte_of_some)
{
	static const char timeline[] =
		"<html>\n<head><meta charset=\"utf-8\" />"
		"<title>GPU Memory Timeline";
	const size_t n = sizeof(timeline) - 1;

	ck_assert_str_eq(what_of("", 0), "it is empty");
	ck_assert_str_eq(what_of("", 1), "it begins with zeros only");
	ck_assert_str_eq(what_of("\0\0\0", 3), "it begins with zeros only");
	ck_assert_str_eq(what_of("\0\0a", 3), NOT_RECOGNISED);
	ck_assert_str_eq(what_of("\0a", 2), NOT_RECOGNISED);
	ck_assert_str_eq(what_of("<", 1), "it is HTML or XML, not a trace");
	ck_assert_str_eq(what_of(timeline, n - 1),
			 "it is HTML or XML, not a trace");
	ck_assert_str_eq(what_of(timeline, n),
			 "it is a memory timeline: sums, without requests");
	ck_assert_str_eq(what_of("[[1", 3),
			 "it is a memory timeline: sums, without requests");
	ck_assert_str_ne(what_of("[[", 2),
			 "it is a memory timeline: sums, without requests");
}
END_TEST

/* Also after a byte order mark and blanks. An object begins with a text; a list
 * with a list, an object or a text. */
START_TEST(json_is_told_by_its_first_two_characters)
{
	static const struct {
		const char *text;
		bool is_json;
	} texts[] = {
		{ "{", true },
		{ "[", false },
		{ "{\"", true },
		{ "{}", true },
		{ "{[", false },
		{ "[{", true },
		{ "[[", true },
		{ "[\"", true },
		{ "[]", true },
		{ "[r", false },
		{ "[2026-", false },
		{ "{'loss", false },
		{ " \n\t[ {", true },
		{ " \n\t[ 1", false },
		{ "\xef\xbb\xbf{", true },
		{ "\xef\xbb\xbf", false },
		{ "\xef\xbb{", false },
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		const char *what =
			what_of(texts[i].text, strlen(texts[i].text));
		bool is_json = strcmp(what, NOT_RECOGNISED) != 0;

		ck_assert_msg(is_json == texts[i].is_json, "%zu: %s", i, what);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_beginning_is_enough, 0 },
		{ so_is_a_single_byte_of_some, 0 },
		{ json_is_told_by_its_first_two_characters, 0 },
	};

	return suite_run("input", tests, COUNT_OF(tests));
}
