/* SPDX-License-Identifier: MIT */
#include "base/sorted.h"

#include "suite.h"

struct item {
	uint16_t other;
	uint64_t number;
};

#define ARRAY GP_SORTED(items, count, struct item, number)

/* Each value is found where a walk over the items finds it. */
START_TEST(finds_what_a_walk_finds)
{
	const struct item items[] = {
		{ 9, 2 }, { 8, 3 }, { 7, 3 }, { 6, 70 }, { 5, UINT64_MAX }
	};
	const uint64_t values[] = {
		0, 1, 2, 3, 4, 69, 70, 71, UINT64_MAX - 1, UINT64_MAX
	};

	for (size_t count = 0; count <= 5; count++)
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			size_t from = 0, above = 0;

			while (from < count && items[from].number < values[i])
				from++;
			while (above < count &&
			       items[above].number <= values[i])
				above++;
			ck_assert_uint_eq(gp_sorted_from(ARRAY, values[i]),
					  from);
			ck_assert_uint_eq(gp_sorted_above(ARRAY, values[i]),
					  above);
			from = gp_sorted_from(GP_SORTED_NUMBERS(values, i + 1),
					      values[i]);
			ck_assert_uint_eq(from, i);
		}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ finds_what_a_walk_finds, 0 },
	};

	return suite_run("sorted", tests, COUNT_OF(tests));
}
