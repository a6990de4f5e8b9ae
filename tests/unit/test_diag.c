/* SPDX-License-Identifier: MIT */
/* Diags: error messages, in parts of limited length. */
#include "gpupool/status.h"

#include <string.h>

#include "suite.h"

START_TEST(test_the_status_comes_back)
{
	static const enum gp_status rows[] = { GP_FAILED, GP_USAGE, GP_INPUT,
					       GP_SYSTEM };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };

		ck_assert_int_eq(gp_diag_set(&diag, rows[i], "id %d", 7),
				 rows[i]);
		ck_assert_str_eq(diag.what, "id 7");
	}
}
END_TEST

START_TEST(test_parts_do_not_disturb_each_other)
{
	struct gp_diag diag = { 0 };

	gp_diag_set(&diag, GP_INPUT, "free of id %d, which is not live", 91);
	gp_diag_file(&diag, "big.json");
	gp_diag_record(&diag, "event %d", 812);
	gp_diag_hint(&diag, "is the trace %s?", "whole");
	ck_assert_str_eq(diag.file, "big.json");
	ck_assert_str_eq(diag.record, "event 812");
	ck_assert_str_eq(diag.what, "free of id 91, which is not live");
	ck_assert_str_eq(diag.hint, "is the trace whole?");
}
END_TEST

START_TEST(test_long_texts_are_cut)
{
	struct gp_diag diag = { 0 };
	char text[2000] = { 0 };

	memset(text, 'a', sizeof(text) - 1);
	gp_diag_set(&diag, GP_INPUT, "%s", text);
	gp_diag_file(&diag, text);
	gp_diag_record(&diag, "%s", text);
	gp_diag_hint(&diag, "%s", text);
	ck_assert_uint_eq(strlen(diag.what), sizeof(diag.what) - 1);
	ck_assert_uint_eq(strlen(diag.file), sizeof(diag.file) - 1);
	ck_assert_uint_eq(strlen(diag.record), sizeof(diag.record) - 1);
	ck_assert_uint_eq(strlen(diag.hint), sizeof(diag.hint) - 1);
}
END_TEST

START_TEST(test_a_path_is_not_a_format)
{
	struct gp_diag diag = { 0 };

	gp_diag_file(&diag, "100%s.json");
	ck_assert_str_eq(diag.file, "100%s.json");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_the_status_comes_back, 0 },
		{ test_parts_do_not_disturb_each_other, 0 },
		{ test_long_texts_are_cut, 0 },
		{ test_a_path_is_not_a_format, 0 },
	};

	return suite_run("diag", tests, COUNT_OF(tests));
}
