/* SPDX-License-Identifier: MIT */
/* Texts: the order of names. */
#include "base/text.h"

#include <string.h>

#include "suite.h"

/* Each before the next. */
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

int main(void)
{
	const struct suite_test tests[] = {
		{ test_numbers_in_names_are_compared_by_value, 0 },
	};

	return suite_run("text", tests, COUNT_OF(tests));
}
