/* SPDX-License-Identifier: MIT */
/* Sets of known capacities. */
#include "study/known.h"

#include "suite.h"

START_TEST(ranges_do_not_overlap_and_neighbours_join)
{
	struct known known = { 0 };

	known_add(&known, 20, 30, true);
	known_add(&known, 0, 10, false);
	known_add(&known, 5, 25, true); /* 5 to 10 and 20 to 25 do not change */
	ck_assert_uint_eq(known.count, 3);
	ck_assert(!known_find(&known, 7)->is_fine);
	ck_assert(known_find(&known, 10)->is_fine);
	ck_assert_ptr_null(known_find(&known, 30));
	ck_assert_uint_eq(known_lowest_fine(&known, 100), 10);
	ck_assert_uint_eq(known_highest_bad(&known, 100, 2), 8);
	ck_assert_uint_eq(known_highest_bad(&known, 6, 2), 4);
	known_release(&known);
}
END_TEST

START_TEST(the_widest_gaps_are_found)
{
	struct known known = { 0 };
	struct known_range gaps[3];

	ck_assert_uint_eq(known_gaps(&known, 4, 9, gaps, 3), 1);
	ck_assert(gaps[0].from == 4 && gaps[0].to == 9);
	known_add(&known, 10, 20, true);
	known_add(&known, 23, 30, true);
	ck_assert_uint_eq(known_gaps(&known, 8, 35, gaps, 3), 3);
	ck_assert(gaps[0].from == 30 && gaps[0].to == 35);
	ck_assert(gaps[1].from == 20 && gaps[1].to == 23);
	ck_assert(gaps[2].from == 8 && gaps[2].to == 10);
	ck_assert_uint_eq(known_gaps(&known, 12, 32, gaps, 1), 1);
	ck_assert(gaps[0].from == 20 && gaps[0].to == 23);
	ck_assert_uint_eq(known_gaps(&known, 12, 20, gaps, 3), 0);
	known_release(&known);
}
END_TEST

START_TEST(of_gaps_as_wide_the_lower_comes_first)
{
	struct known known = { 0 };
	struct known_range gaps[2];

	known_add(&known, 2, 4, true);
	known_add(&known, 6, 8, true);
	ck_assert_uint_eq(known_gaps(&known, 0, 10, gaps, 2), 2);
	ck_assert(gaps[0].from == 0 && gaps[1].from == 4);
	known_release(&known);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ ranges_do_not_overlap_and_neighbours_join, 0 },
		{ the_widest_gaps_are_found, 0 },
		{ of_gaps_as_wide_the_lower_comes_first, 0 },
	};

	return suite_run("known", tests, COUNT_OF(tests));
}
