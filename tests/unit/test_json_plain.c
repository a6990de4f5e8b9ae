/* SPDX-License-Identifier: MIT */
/* Plain JSON values are read as jansson reads them. */
#include <jansson.h>
#include <math.h>

#include "base/map.h"
#include "formats/json_plain.h"
#include "suite.h"

#define CASES 200000

/* As in a window: with bytes after it, and room to look ahead. */
struct padded {
	char text[96];
	size_t length;
};

static struct padded pad(const char *text)
{
	struct padded padded = { .length = strlen(text) };

	snprintf(padded.text, sizeof(padded.text), "%s,", text);
	return padded;
}

static void compare_number(const char *text)
{
	struct padded padded = pad(text);
	struct gp_plain p = { .at = (const unsigned char *)padded.text };
	struct gp_plain_value value;
	json_t *json;

	if (!gp_plain_signed(&p, &value))
		return;
	json = json_loads(text, JSON_DECODE_ANY, NULL);
	ck_assert_msg(json != NULL, "%s is no number", text);
	ck_assert_ptr_eq(p.at, padded.text + padded.length);
	ck_assert_int_eq(value.is_integer, json_is_integer(json));
	if (value.is_integer)
		ck_assert_int_eq(value.integer, json_integer_value(json));
	ck_assert_msg(value.real == json_number_value(json) &&
			      !signbit(value.real) ==
				      !signbit(json_number_value(json)),
		      "%s is %.17g", text, value.real);
	json_decref(json);
}

START_TEST(test_numbers)
{
	static const char *const taken[] = { "0",
					     "-0",
					     "-0.0",
					     "0.1",
					     "1.5",
					     "9223372036854775807",
					     "1669783687464181.123",
					     "9007199254740993.5" };
	uint64_t state = 1;
	char text[64];

	for (size_t i = 0; i < COUNT_OF(taken); i++) {
		struct padded padded = pad(taken[i]);
		struct gp_plain p = { .at = (void *)padded.text };
		struct gp_plain_value value;

		ck_assert_msg(gp_plain_signed(&p, &value), "%s", taken[i]);
		compare_number(taken[i]);
	}
	for (unsigned i = 0; i < CASES; i++) {
		uint64_t a = next_random(&state), b = next_random(&state);

		snprintf(text, sizeof(text), "%s%llu.%0*llu", a & 1 ? "-" : "",
			 (unsigned long long)(a >> (b & 63)),
			 (int)(a >> 1 & 15), (unsigned long long)(b >> 50));
		if (b >> 6 & 1)
			text[strcspn(text, ".")] = '\0';
		compare_number(text);
	}
}
END_TEST

START_TEST(test_what_is_skipped)
{
	static const char *const values[] = {
		"[]",
		"{}",
		"[1, [2.5, \"a\\\"b\"]]",
		"{\"a\": {\"b\": null}}",
		"tru",
		"[1 2]",
		"{1: 2}",
		"{\"a\"}",
		"[1,]",
		"{\"a\": 1,}",
		"\"\\x\"",
		"\"\t\"",
		"[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]",
		"01",
		"-",
		"\"",
		"\"\\",
	};

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct padded padded = pad(values[i]);
		struct gp_plain p = { .at = (void *)padded.text };
		json_t *json = json_loads(values[i], JSON_DECODE_ANY, NULL);

		if (gp_plain_skip(&p)) {
			ck_assert_msg(json != NULL, "%s", values[i]);
			ck_assert_ptr_eq(p.at, padded.text + padded.length);
		}
		ck_assert_int_eq(
			i < 4, p.at == (void *)(padded.text + padded.length) &&
				       json != NULL);
		json_decref(json);
	}
}
END_TEST

/* Each byte, at each place of the eight that are processed together. */
START_TEST(test_texts_end_where_they_end)
{
	char text[48];

	for (unsigned c = 0; c < 256; c++)
		for (unsigned at = 0; at < 17; at++) {
			bool is_plain =
				c >= ' ' && c <= '~' && c != '"' && c != '\\';

			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			text[at + 1] = (char)255;
			text[24] = '"';
			ck_assert_ptr_eq(gp_plain_run((void *)text),
					 text + at + is_plain);
		}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_numbers, 0 },
		{ test_what_is_skipped, 0 },
		{ test_texts_end_where_they_end, 0 },
	};

	return suite_run("plain values of JSON", tests, COUNT_OF(tests));
}
