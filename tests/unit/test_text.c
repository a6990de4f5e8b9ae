/* SPDX-License-Identifier: MIT */
/* Texts: the order of names, and quoting. */
#include "base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

/* Each name precedes the next. */
static const char *const names[] = {
	"",
	"1",
	"02",
	"2",
	"10",
	"a",
	"rank",
	"rank_0",
	"rank_1.gz",
	"rank_002",
	"rank_02",
	"rank_2",
	"rank_2_9",
	"rank_2_10",
	"rank_2a",
	"rank_10",
	"rank_10a",
	"rank_9999",
	"rank_18446744073709551616",
	"rank_x",
	"\xff",
};

static int order_of(const char *a, const char *b)
{
	return gp_natural_order(a, strlen(a), b, strlen(b));
}

START_TEST(test_numbers_in_names_are_compared_by_value)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		for (size_t k = 0; k < COUNT_OF(names); k++) {
			int order = order_of(names[i], names[k]);

			ck_assert_msg((order > 0) - (order < 0) ==
					      (i > k) - (i < k),
				      "%s, %s: %d", names[i], names[k], order);
		}
}
END_TEST

/* jansson reads the text back, except bytes that are not characters. */
START_TEST(test_a_json_string_is_read_as_the_text)
{
	static const struct {
		const char *text, *written, *read;
	} cases[] = {
		{ "", "\"\"", "" },
		{ "a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"", NULL },
		{ "\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"", NULL },
		{ "###", "\"\\u0023\\u0023#\"", NULL },
		{ "\u00e9\u202e\U000e0001", "\"\u00e9\\u202e\\udb40\\udc01\"",
		  NULL },
		{ "a\xffz\xc3", "\"a\\ufffdz\\ufffd\"", "a\ufffdz\ufffd" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *text = cases[i].text;
		char written[128] = "";
		FILE *out = fmemopen(written, sizeof(written), "w");
		json_t *json;

		gp_quote_json(text, strlen(text), out);
		fclose(out);
		ck_assert_str_eq(written, cases[i].written);
		json = json_loads(written, JSON_DECODE_ANY, NULL);
		ck_assert_ptr_nonnull(json);
		ck_assert_str_eq(json_string_value(json),
				 cases[i].read ? cases[i].read : text);
		json_decref(json);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_numbers_in_names_are_compared_by_value, 0 },
		{ test_a_json_string_is_read_as_the_text, 0 },
	};

	return suite_run("text", tests, COUNT_OF(tests));
}
