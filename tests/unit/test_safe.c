/* SPDX-License-Identifier: MIT */
/* Untrusted texts in a terminal and a log. */
#include "base/safe.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_sink.h"
#include "suite.h"

static const struct {
	const char *told, *shown;
} rows[] = {
	{ "train.py:42 forward (aten::mul)",
	  "train.py:42 forward (aten::mul)" },
	{ "Grad\xc3\xbc\xc3\x9f\x65 \xe2\x82\xac",
	  "Grad\xc3\xbc\xc3\x9f\x65 \xe2\x82\xac" },
	{ "c10::cuda::CUDACachingAllocator",
	  "c10::cuda::CUDACachingAllocator" },
	{ "::operator new", "::operator new" },
	/* commands to a terminal */
	{ "\033[2Jgone", "?[2Jgone" },
	{ "a\nb\r\tc", "a?b??c" },
	{ "\xc2\x9b"
	  "2J",
	  "?2J" }, /* C1's ESC [ */
	{ "\x9b"
	  "2J",
	  "?2J" }, /* the same, not in UTF-8 */
	{ "a\xe2\x80\xae"
	  "b",
	  "a?b" }, /* the text that follows is written right to left */
	{ "a\xe2\x81\xa6"
	  "b",
	  "a?b" }, /* an isolated direction */
	{ "a\xe2\x80\xa8"
	  "b",
	  "a?b" }, /* a line separator */
	{ "a\xf3\xa0\x81\x81"
	  "b",
	  "a?b" }, /* a tag, which is invisible */
	/* commands to a CI runner */
	{ "::error::stop", "?:error::stop" },
	{ "a ::set-env name=X::1", "a ?:set-env name=X::1" },
	{ "\xc2\xa0::error::stop", "\xc2\xa0?:error::stop" },
	{ "a ##[error]stop", "a ?#[error]stop" },
	{ "##vso[task.setvariable]", "?#vso[task.setvariable]" },
	{ "##teamcity[x]", "?#teamcity[x]" },
	{ "a ## title", "a ## title" },
};

START_TEST(test_a_text_is_safe)
{
	char text[200];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		ck_assert_str_eq(gp_safe_text(rows[i].told, text, sizeof(text)),
				 rows[i].shown);
		/* A second pass changes nothing. */
		ck_assert_str_eq(
			gp_safe_text(rows[i].shown, text, sizeof(text)),
			rows[i].shown);
	}
}
END_TEST

START_TEST(test_a_text_too_long_is_cut)
{
	char text[5];

	ck_assert_str_eq(gp_safe_text("abcdefgh", text, sizeof(text)), "abcd");
}
END_TEST

/* However the bytes are divided among writes. */
static void try_stream(bool has_buffer)
{
	static const char told[] = "\033[1;31mred\033[0m ::x y::z\n::error::\n"
				   "\033[2J##[x]\nrest ##";
	struct gp_text_sink sink;
	FILE *under = gp_text_sink_open(&sink), *out = gp_safe_stream(under);
	char *text;

	if (!has_buffer)
		setvbuf(out, NULL, _IONBF, 0);
	for (const char *at = told; *at; at++)
		putc(*at, out);
	ck_assert_int_eq(fclose(out), 0);
	text = gp_text_sink_close(&sink, under);
	ck_assert_str_eq(text, "\033[1;31mred\033[0m ?:x y::z\n?:error::\n"
			       "?[2J?#[x]\nrest ##");
	free(text);
}

START_TEST(test_a_stream_makes_its_lines_safe)
{
	try_stream(true);
	try_stream(false);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_text_is_safe, 0 },
		{ test_a_text_too_long_is_cut, 0 },
		{ test_a_stream_makes_its_lines_safe, 0 },
	};

	return suite_run("safe", tests, COUNT_OF(tests));
}
