/* SPDX-License-Identifier: MIT */
/* A stream whose text is kept in memory. */
#include "base/text_sink.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

START_TEST(test_what_is_written_is_the_text)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	char *text;

	for (int i = 0; i < 10000; i++)
		fprintf(out, "%d,", i % 10);
	text = gp_text_sink_close(&sink, out);
	ck_assert_uint_eq(sink.size, 20000);
	ck_assert_uint_eq(strlen(text), 20000);
	ck_assert_int_eq(strncmp(text, "0,1,2,3,", 8), 0);
	ck_assert_str_eq(text + 19996, "8,9,");
	free(text);
}
END_TEST

START_TEST(test_nothing_written_is_an_empty_text)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	char *text = gp_text_sink_close(&sink, out);

	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(sink.size, 0);
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_is_written_is_the_text, 0 },
		{ test_nothing_written_is_an_empty_text, 0 },
	};

	return suite_run("text_sink", tests, COUNT_OF(tests));
}
