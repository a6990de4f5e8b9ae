/* SPDX-License-Identifier: MIT */
/* The table of measures: each number is what its row describes. */
#include "gpupool/metrics.h"

#include <string.h>

#include "suite.h"

/* 100 bytes are reserved at the peak, 60 of them allocated (for 56 requested)
 * and 10 pending free. */
static struct gp_replay_result some_run(void)
{
	return (struct gp_replay_result){
		.at_peak = { .event = 7,
			     .reserved = 100,
			     .allocated = 60,
			     .active = 70,
			     .requested = 56,
			     .inactive_split = 20 },
		.at_end = { .reserved = 80, .allocated = 20, .active = 20 },
		.at_end.largest_free = 45,
		.timeline = { .allocated = { 10, 65, 30 }, .bins = 3 },
		.allocs = 10,
		.dropped = 1,
		.counts.device_allocs = 4,
	};
}

START_TEST(test_sums_at_the_peak)
{
	struct gp_replay_result run = some_run();
	struct gp_subject peak = gp_at_peak(&run);
	const struct {
		enum gp_measure_id id;
		uint64_t value;
	} rows[] = {
		{ GP_PEAK_RESERVED, 100 },
		{ GP_PEAK_ALLOCATED, 65 },
		{ GP_ALLOCS, 10 },
		{ GP_DROPPED, 1 },
		{ GP_DEVICE_ALLOCS, 4 },
		{ GP_RESERVED, 100 },
		{ GP_ALLOCATED, 60 },
		{ GP_ACTIVE_BYTES, 70 },
		{ GP_REQUESTED, 56 },
		{ GP_INACTIVE_SPLIT, 20 },
		{ GP_GAP, 40 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_uint_eq(gp_measure_count(rows[i].id, &peak),
				  rows[i].value);
}
END_TEST

START_TEST(test_ratios)
{
	struct gp_replay_result run = some_run();
	const struct {
		enum gp_measure_id id;
		struct gp_subject at;
		double value;
	} rows[] = {
		{ GP_HIT_RATE, gp_at_end(&run), 0.5 },
		{ GP_FRAGMENTATION, gp_at_peak(&run), 0.4 },
		{ GP_INACTIVE_SPLIT_RATIO, gp_at_peak(&run), 0.2 },
		{ GP_UTILIZATION, gp_at_peak(&run), 0.6 },
		{ GP_INTERNAL, gp_at_peak(&run), 0.2 },
		{ GP_FRAGMENTATION, gp_at_end(&run), 0.75 },
		{ GP_EXTERNAL, gp_at_end(&run), 0.25 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_double_eq_tol(
			gp_measure_ratio(rows[i].id, &rows[i].at),
			rows[i].value, 1e-12);
}
END_TEST

START_TEST(test_nothing_is_nothing)
{
	struct gp_replay_result run = { 0 };
	struct gp_subject end = gp_at_end(&run);

	for (unsigned id = 0; id < GP_MEASURES; id++) {
		if (gp_measures[id].unit == GP_UNIT_RATIO)
			ck_assert_double_eq(gp_measure_ratio(id, &end), 0);
		else
			ck_assert_uint_eq(gp_measure_count(id, &end), 0);
	}
}
END_TEST

START_TEST(test_every_row_is_whole)
{
	for (unsigned id = 0; id < GP_MEASURES; id++) {
		const struct gp_measure *m = &gp_measures[id];
		bool is_ratio = m->unit == GP_UNIT_RATIO;

		ck_assert(m->key && m->label && m->meaning);
		ck_assert((m->ratio != NULL) == is_ratio);
		ck_assert((m->count != NULL) != is_ratio);
		for (unsigned other = 0; other < id; other++)
			ck_assert_str_ne(m->key, gp_measures[other].key);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_sums_at_the_peak, 0 },
		{ test_ratios, 0 },
		{ test_nothing_is_nothing, 0 },
		{ test_every_row_is_whole, 0 },
	};

	return suite_run("measure", tests, COUNT_OF(tests));
}
