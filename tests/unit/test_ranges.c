/* SPDX-License-Identifier: MIT */
/* Ranges that contain a number, compared with a list of all ranges. */
#include "base/ranges.h"

#include <string.h>

#include "suite.h"

#define MOST 100

struct model {
	uint64_t from[MOST], to[MOST];
	uint32_t count;
};

/* Numbers with the same nine leading bits may be taken for each other. */
static bool is_near(uint64_t a, uint64_t b)
{
	uint64_t apart = a < b ? b - a : a - b;

	return apart <= (a < b ? a : b) >> 8;
}

/* Each range that contains the number is found once; others only if the number
 * is next to them. */
static void check_number(const struct gp_ranges *ranges,
			 const struct model *model, uint64_t number)
{
	struct gp_ranges_walk walk = gp_ranges_at(ranges, number);
	uint8_t seen[MOST] = { 0 };
	size_t count = 0;

	for (; gp_ranges_next(&walk); count++)
		seen[walk.item]++;
	ck_assert_uint_eq(gp_ranges_count(ranges, number), count);
	for (uint32_t i = 0; i < model->count; i++)
		if (model->from[i] <= number && number <= model->to[i])
			ck_assert_uint_eq(seen[i], 1);
		else if (seen[i])
			ck_assert(seen[i] == 1 &&
				  (is_near(number, model->from[i]) ||
				   is_near(number, model->to[i])));
}

/* Numbers near 0, near the largest, and of any size. */
static uint64_t any_number(uint64_t *random)
{
	switch (next_random(random) % 3) {
	case 0: return next_random(random) % 40;
	case 1: return UINT64_MAX - next_random(random) % 40;
	default: return next_random(random) >> next_random(random) % 64;
	}
}

static void add_any(struct gp_ranges *ranges, struct model *model,
		    uint64_t *random)
{
	uint64_t a = any_number(random), b = any_number(random);
	uint32_t item = model->count++;

	model->from[item] = a < b ? a : b;
	model->to[item] = a < b ? b : a;
	gp_ranges_add(ranges, model->from[item], model->to[item], item);
}

START_TEST(test_those_that_contain_a_number)
{
	struct gp_ranges ranges = { 0 };
	struct model model = { .count = 0 };
	uint64_t random = 1;

	check_number(&ranges, &model, 0);
	while (model.count < MOST) {
		add_any(&ranges, &model, &random);
		for (int k = 0; k < 10; k++)
			check_number(&ranges, &model, any_number(&random));
		for (uint32_t i = 0; i < model.count; i += 7) {
			check_number(&ranges, &model, model.from[i]);
			check_number(&ranges, &model, model.to[i]);
		}
	}
	gp_ranges_release(&ranges);
	ck_assert_uint_eq(ranges.count, 0);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_those_that_contain_a_number, 0 },
	};

	return suite_run("ranges", tests, COUNT_OF(tests));
}
