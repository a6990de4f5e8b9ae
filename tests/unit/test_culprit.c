/* SPDX-License-Identifier: MIT */
/* Culprits in order: those that pin most come first, and ties are always broken
 * in the same way. */
#include "study/metrics/culprit.h"

#include <string.h>

#include "suite.h"

/* The members that they are ordered by, the most important first. The two of
 * each pair differ in one of these, or in it and, the other way round, in all
 * less important ones. */
static void set(struct gp_culprit *culprit, int member, unsigned value)
{
	switch (member) {
	case 0: culprit->byte_events = 10. - value; break;
	case 1: culprit->bytes = 10 - value; break;
	case 2: culprit->site = value; break;
	case 3: culprit->least = value; break;
	case 4: culprit->stream = (uint16_t)value; break;
	case 5: culprit->pool = (uint16_t)value; break;
	default: culprit->index = value; break;
	}
}

#define MEMBERS 7

START_TEST(the_first_difference_decides)
{
	for (int member = 0; member < MEMBERS; member++)
		for (int others = 0; others < 2; others++)
			for (size_t turn = 0; turn < 2; turn++) {
				struct gp_culprit list[2] = { { .bytes = 1 },
							      { .bytes = 1 } };
				struct gp_culprits ranked;

				for (int m = 0; m < MEMBERS; m++) {
					bool is_less = m > member && others;

					set(&list[turn], m, is_less ? 2 : 1);
					set(&list[!turn], m,
					    m == member ? 2 : 1);
				}
				list[turn].blocks = 7;
				ranked = culprits_rank(list, 2);
				ck_assert_uint_eq(ranked.count, 2);
				ck_assert_msg(ranked.list[0].blocks == 7,
					      "member %d", member);
			}
}
END_TEST

START_TEST(who_pins_nothing_is_none)
{
	struct gp_culprit list[] = { { .blocks = 1 },
				     { .bytes = 1, .blocks = 2 },
				     { .blocks = 3 },
				     { .bytes = 2, .blocks = 4 },
				     { .blocks = 5 } };
	struct gp_culprits ranked = culprits_rank(list, COUNT_OF(list));

	ck_assert_uint_eq(ranked.count, 2);
	ck_assert_uint_eq(ranked.list[0].blocks, 4);
	ck_assert_uint_eq(ranked.list[1].blocks, 2);
	ck_assert_uint_eq(culprits_rank(list, 0).count, 0);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_first_difference_decides, 0 },
		{ who_pins_nothing_is_none, 0 },
	};

	return suite_run("culprit", tests, COUNT_OF(tests));
}
