/* SPDX-License-Identifier: MIT */
/* Who held memory in two runs, side by side: the largest change first. */
#include <stdlib.h>

#include "study/metrics/change.h"
#include "suite.h"

START_TEST(the_largest_change_comes_first)
{
	const struct gp_share a[] = {
		{ .name = "t.py:1 f", .blocks = 1, .requested = 1000 },
		{ .name = "t.py:2 g", .blocks = 1, .requested = 100 },
		{ .name = "t.py:3 h", .blocks = 1, .requested = 300 },
	};
	const struct gp_share b[] = {
		{ .name = "t.py:1 f", .blocks = 1, .requested = 800 },
		{ .name = "t.py:2 g", .blocks = 1, .requested = 600 },
	};
	static const char *const order[] = { "t.py:2 g", "t.py:3 h",
					     "t.py:1 f" };
	struct gp_share_pair *pairs;

	ck_assert_uint_eq(gp_share_match(a, 3, b, 2, &pairs), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(pairs[i].a.name, order[i]);
	ck_assert_int_eq(pairs[0].fate, GP_SHARE_STAYED);
	ck_assert_int_eq(pairs[1].fate, GP_SHARE_GONE);
	free(pairs);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_largest_change_comes_first, 0 },
	};

	return suite_run("share_match", tests, COUNT_OF(tests));
}
