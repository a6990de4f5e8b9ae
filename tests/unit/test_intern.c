/* SPDX-License-Identifier: MIT */
/* Interned texts: equal texts share a number, in order of appearance. */
#include "base/intern.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

/* Of each pair, both lead FNV-1a from one state to one state: 2^15 texts have
 * one hash, if it begins as it is published. */
static const char *const pairs[][2] = {
	{ "hcdJnv", "3zHAEL" }, { "WBrvE8", "pMguXE" }, { "1x3QDg", "XncDLK" },
	{ "7toDZb", "4u18hn" }, { "HKMKwA", "uwk5ZU" }, { "DrAV9o", "hvWm81" },
	{ "XQv0B2", "YJ69LI" }, { "Dd0TFC", "6RTNkZ" }, { "RnZlOz", "PwaB5t" },
	{ "dxUxUd", "o1wG7w" }, { "sCNgLe", "2rTnGI" }, { "q8TN0E", "JmYXZJ" },
	{ "SgGXnh", "tvNFJM" }, { "4e3AB0", "lpqG9L" }, { "KcwbxH", "xu28cw" },
};

static clock_t cost(bool is_chosen)
{
	struct gp_intern intern = { 0 };
	clock_t start = clock();

	for (unsigned i = 0; i < 1u << COUNT_OF(pairs); i++) {
		char text[6 * COUNT_OF(pairs) + 1] = "";

		for (size_t k = 0; k < COUNT_OF(pairs); k++)
			memcpy(text + 6 * k, pairs[k][i >> k & 1], 6);
		if (!is_chosen)
			memcpy(text + 6, &i, sizeof(i));
		ck_assert_uint_eq(gp_intern(&intern, text, sizeof(text) - 1),
				  i);
	}
	gp_intern_release(&intern);
	return clock() - start;
}

/* Who writes a file chooses its texts. */
START_TEST(test_texts_chosen_to_collide_do_not)
{
	clock_t a = cost(true), b = cost(false);

	ck_assert_msg(a < 20 * (b + 1000), "%ld and %ld", (long)a, (long)b);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_equal_texts_get_one_number, 0 },
		{ test_a_text_ends_where_its_length_says, 0 },
		{ test_the_text_is_a_copy, 0 },
		{ test_numbers_survive_growth, 0 },
		{ test_texts_chosen_to_collide_do_not, 0 },
	};

	return suite_run("intern", tests, COUNT_OF(tests));
}
