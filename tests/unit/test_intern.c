/* SPDX-License-Identifier: MIT */
/* Interned texts: equal texts share a number, in order of appearance. */
#include "base/intern.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static uint32_t intern(struct gp_intern *intern, const char *text)
{
	return gp_intern(intern, text, strlen(text));
}

START_TEST(test_equal_texts_get_one_number)
{
	struct gp_intern texts = { 0 };

	ck_assert_uint_eq(intern(&texts, "forward"), 0);
	ck_assert_uint_eq(intern(&texts, "backward"), 1);
	ck_assert_uint_eq(intern(&texts, "forward"), 0);
	ck_assert_uint_eq(texts.count, 2);
	gp_intern_release(&texts);
}
END_TEST

START_TEST(test_a_text_ends_where_its_length_says)
{
	struct gp_intern texts = { 0 };

	ck_assert_uint_eq(gp_intern(&texts, "", 0), 0);
	ck_assert_uint_eq(gp_intern(&texts, "ab", 1), 1);
	ck_assert_uint_eq(gp_intern(&texts, "ab", 2), 2);
	ck_assert_uint_eq(gp_intern(&texts, "a\0b", 3), 3);
	ck_assert_uint_eq(gp_intern(&texts, "a\0c", 3), 4);
	ck_assert_str_eq(texts.texts[1], "a");
	gp_intern_release(&texts);
}
END_TEST

START_TEST(test_the_text_is_a_copy)
{
	struct gp_intern texts = { 0 };
	char text[] = "site";

	intern(&texts, text);
	text[0] = 'b';
	ck_assert_str_eq(texts.texts[0], "site");
	gp_intern_release(&texts);
}
END_TEST

START_TEST(test_numbers_survive_growth)
{
	struct gp_intern texts = { 0 };
	char text[24];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			snprintf(text, sizeof(text), "train.py:%u", i);
			ck_assert_uint_eq(intern(&texts, text), i);
		}
	}
	for (uint32_t i = 0; i < 20000; i += 999) {
		snprintf(text, sizeof(text), "train.py:%u", i);
		ck_assert_str_eq(texts.texts[i], text);
	}
	gp_intern_release(&texts);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_equal_texts_get_one_number, 0 },
		{ test_a_text_ends_where_its_length_says, 0 },
		{ test_the_text_is_a_copy, 0 },
		{ test_numbers_survive_growth, 0 },
	};

	return suite_run("intern", tests, COUNT_OF(tests));
}
