/* SPDX-License-Identifier: MIT */
/* Who held memory in two runs, side by side: the largest change first. */
#include <stdlib.h>
#include <string.h>

#include "study/metrics/change.h"
#include "suite.h"

/* Blocks and bytes held at the peak; requests, and bytes asked for, of the
 * whole run. */
#define LINE(name_, blocks_, requested_, requests_, asked_)                    \
	{                                                                      \
		.name = name_, .blocks = blocks_, .requested = requested_,     \
		.requests = requests_, .asked = asked_                         \
	}

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

static const struct gp_share_pair *in_b(const struct gp_share_pair *pairs,
					size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(pairs[i].b.name, name))
			return &pairs[i];
	ck_abort_msg("%s is not there", name);
	return NULL;
}

/* A line that holds nothing at the peak is there all the same. */
START_TEST(a_line_that_holds_nothing_at_the_peak_is_not_gone)
{
	const struct gp_share a[] = {
		{ .name = "t.py:30 f",
		  .blocks = 1,
		  .requested = 200,
		  .most = 200,
		  .requests = 3,
		  .asked = 600 },
		{ .name = "t.py:31 f",
		  .most = 150,
		  .requests = 3,
		  .asked = 450 },
		{ .name = "t.py:32 f", .most = 1, .requests = 1, .asked = 1 },
	};
	const struct gp_share b[] = {
		{ .name = "t.py:30 f",
		  .most = 200,
		  .requests = 3,
		  .asked = 600 },
		{ .name = "t.py:31 f",
		  .blocks = 1,
		  .requested = 300,
		  .most = 300,
		  .requests = 3,
		  .asked = 900 },
		{ .name = "t.py:32 f", .most = 1, .requests = 1, .asked = 1 },
	};
	struct gp_share_pair *pairs;

	/* What neither holds at the peak has no row. */
	ck_assert_uint_eq(gp_share_match(a, 3, b, 3, &pairs), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(pairs[i].fate, GP_SHARE_STAYED);
		ck_assert_str_eq(pairs[i].a.name, pairs[i].b.name);
	}
	free(pairs);
}
END_TEST

/* A line was added above: those below follow, though one now has the number
 * that another had. */
START_TEST(lines_that_all_moved_down_by_one_follow)
{
	const struct gp_share a[] = {
		LINE("t.py:30 f", 1, 100, 1, 100),
		LINE("t.py:31 f", 1, 400, 1, 400),
		LINE("t.py:32 f", 1, 50, 1, 50),
	};
	const struct gp_share b[] = {
		LINE("t.py:31 f", 1, 100, 1, 100),
		LINE("t.py:32 f", 1, 400, 2, /* of one more step */ 800),
		LINE("t.py:33 f", 2, 58, 2, 58),
	};
	struct gp_share_pair *pairs;
	size_t count = gp_share_match(a, 3, b, 3, &pairs);

	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(in_b(pairs, count, "t.py:31 f")->a.name, "t.py:30 f");
	ck_assert_str_eq(in_b(pairs, count, "t.py:32 f")->a.name, "t.py:31 f");
	ck_assert_str_eq(in_b(pairs, count, "t.py:33 f")->a.name, "t.py:32 f");
	free(pairs);
}
END_TEST

/* One line is gone and another is new; those between stay as they are. */
START_TEST(lines_between_a_gone_and_a_new_one_stay)
{
	const struct gp_share a[] = {
		LINE("t.py:30 f", 1, 100, 1, 100),
		LINE("t.py:40 f", 1, 400, 1, 400),
		LINE("t.py:50 f", 1, 50, 1, 50),
	};
	const struct gp_share b[] = {
		LINE("t.py:40 f", 1, 400, 1, 400),
		LINE("t.py:50 f", 1, 50, 1, 50),
		LINE("t.py:60 f", 1, 9, 1, 9),
	};
	struct gp_share_pair *pairs;
	size_t count = gp_share_match(a, 3, b, 3, &pairs);

	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(in_b(pairs, count, "t.py:40 f")->fate,
			 GP_SHARE_STAYED);
	ck_assert_int_eq(in_b(pairs, count, "t.py:50 f")->fate,
			 GP_SHARE_STAYED);
	ck_assert_int_eq(in_b(pairs, count, "t.py:60 f")->fate, GP_SHARE_NEW);
	free(pairs);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_largest_change_comes_first, 0 },
		{ a_line_that_holds_nothing_at_the_peak_is_not_gone, 0 },
		{ lines_that_all_moved_down_by_one_follow, 0 },
		{ lines_between_a_gone_and_a_new_one_stay, 0 },
	};

	return suite_run("share_match", tests, COUNT_OF(tests));
}
