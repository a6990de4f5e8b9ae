/* SPDX-License-Identifier: MIT */
/* Grids and rankings: what is tried, and what is best. */
#include "gpupool/knob.h"
#include "gpupool/study.h"
#include "study/sweep/grid.h"
#include "study/sweep/rank.h"

#include <string.h>

#include "suite.h"

#define LARGEST (UINT64_C(1) << 20) /* request */

static struct gp_sweep_row row(uint64_t reserved, uint64_t dropped,
			       uint64_t retries, uint64_t time_us)
{
	return (struct gp_sweep_row){
		.reserved = reserved,
		.least_reserved = reserved,
		.dropped = dropped,
		.retries = retries,
		.device_time_us = time_us,
		.devices = 1,
	};
}

/* The order of the rows; each letter is a row's former place. */
static void check_order(const struct gp_sweep_row *rows,
			const char *const *confs, size_t count,
			enum gp_rank_by by, const char *order)
{
	struct gp_contender c[16];

	for (size_t i = 0; i < count; i++)
		c[i] = (struct gp_contender){ &rows[i], confs[i], i };
	gp_rank(c, count, by);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq('a' + (int)c[i].index, order[i]);
}

START_TEST(test_requests_not_served_count_most)
{
	const struct gp_sweep_row rows[] = {
		row(9, 1, 0, 1),  row(20, 0, 5, 9), row(10, 0, 7, 8),
		row(10, 0, 2, 9), row(10, 0, 2, 9),
	};
	static const char *const confs[] = { "", "x:1", "x:2", "x:3,y:1",
					     "x:4" };

	check_order(rows, confs, COUNT_OF(rows), GP_RANK_RESERVED, "edcba");
	check_order(rows, confs, COUNT_OF(rows), GP_RANK_TIME, "cedba");
	check_order(rows, confs, COUNT_OF(rows), GP_RANK_RETRIES, "edbca");
}
END_TEST

START_TEST(test_the_front_has_nothing_better_in_both)
{
	const struct gp_sweep_row rows[] = {
		row(10, 0, 0, 9), row(12, 0, 0, 9), row(14, 0, 0, 5),
		row(14, 0, 0, 5), row(1, 3, 0, 1),
	};
	static const bool front[] = { true, false, true, false, false };
	struct gp_contender c[COUNT_OF(rows)];

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		c[i] = (struct gp_contender){ &rows[i], "", i };
	gp_rank(c, COUNT_OF(rows), GP_RANK_RESERVED);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_int_eq(gp_rank_is_front(c, COUNT_OF(rows), i),
				 front[c[i].index]);
	ck_assert(gp_rank_is_tie(&c[2], &c[3]));
	ck_assert(!gp_rank_is_tie(&c[1], &c[2]));
}
END_TEST

START_TEST(test_the_worst_rank_decides)
{
	struct gp_sweep_row all = { 0 };
	const struct gp_sweep_row a = row(10, 1, 3, 7), b = row(30, 2, 1, 9),
				  c = row(20, 0, 0, 1);

	gp_row_join(&all, &a, 0);
	gp_row_join(&all, &b, 1);
	gp_row_join(&all, &c, 2);
	ck_assert_uint_eq(all.reserved, 30);
	ck_assert_uint_eq(all.least_reserved, 10);
	ck_assert_uint_eq(all.worst, 1);
	ck_assert_uint_eq(all.dropped, 3);
	ck_assert_uint_eq(all.retries, 3);
	ck_assert_uint_eq(all.device_time_us, 9);
	ck_assert_uint_eq(all.devices, 3);
}
END_TEST

static void make_grid(const char *const *confs, size_t conf_count,
		      const char *const *sets, size_t set_count,
		      struct gp_grid *grid)
{
	struct gp_axis axes[4];
	struct gp_diag diag = { 0 };

	for (size_t i = 0; i < set_count; i++)
		ck_assert_int_eq(
			gp_axis_parse(sets[i], LARGEST, &axes[i], &diag),
			GP_OK);
	ck_assert_int_eq(gp_grid_make(
				 &(struct gp_grid_config){
					 .confs = confs,
					 .conf_count = conf_count,
					 .axes = axes,
					 .axis_count = set_count,
					 .release = 9,
				 },
				 grid, &diag),
			 GP_OK);
	for (size_t i = 0; i < set_count; i++)
		gp_axis_release(&axes[i]);
}

/* A replay of a window may reserve more than the program would; that of a whole
 * trace does not. */
START_TEST(test_windows_join_by_estimates)
{
	struct gp_sweep_row all = { 0 };
	struct gp_sweep_row window = row(12, 0, 0, 1);
	const struct gp_sweep_row whole = row(10, 0, 0, 1);

	window.estimated = 4;
	window.estimated_low = 3;
	window.estimated_high = 11;
	gp_row_join(&all, &window, 0);
	ck_assert_uint_eq(gp_row_peak(&all), 4);
	gp_row_join(&all, &whole, 1);
	ck_assert_uint_eq(gp_row_peak(&all), 10);
	ck_assert_uint_eq(all.estimated_low, 10);
	ck_assert_uint_eq(all.estimated_high, 11);
	ck_assert_uint_eq(all.reserved, 12);
}
END_TEST

START_TEST(test_the_last_axis_changes_fastest)
{
	static const char *const confs[] = { "max_split_size_mb:512" };
	static const char *const sets[] = { "torch=2.2,2.9",
					    "max_split_size_mb=none,64,5" };
	struct gp_grid grid;

	make_grid(confs, 1, sets, 2, &grid);
	ck_assert_uint_eq(grid.count, 6);
	ck_assert_str_eq(grid.items[0].conf, "");
	ck_assert_str_eq(grid.items[4].conf, "max_split_size_mb:64");
	ck_assert_uint_eq(grid.items[1].settings.release, 2);
	ck_assert_uint_eq(grid.items[4].settings.release, 9);
	ck_assert_uint_eq(grid.items[4].settings.max_split_size, 64 << 20);
	ck_assert_ptr_null(grid.items[4].reason);
	ck_assert_ptr_nonnull(grid.items[5].reason);
	gp_grid_release(&grid);
}
END_TEST

START_TEST(test_the_same_combination_is_there_once)
{
	static const char *const confs[] = { "", "expandable_segments:True",
					     "max_split_size_mb:64" };
	static const char *const sets[] = { "expandable_segments=none" };
	struct gp_grid grid;

	make_grid(confs, 3, sets, 1, &grid);
	ck_assert_uint_eq(grid.count, 2);
	gp_grid_release(&grid);
}
END_TEST

START_TEST(test_candidates_are_understood_by_the_newest_release)
{
	size_t count;
	const struct gp_candidate_conf *table = gp_candidate_table(&count);
	struct gp_diag diag = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct gp_settings settings;

		gp_settings_init(&settings, GP_RELEASE_LAST);
		ck_assert_int_eq(
			gp_settings_parse(&settings, table[i].conf, &diag),
			GP_OK);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_requests_not_served_count_most, 0 },
		{ test_the_front_has_nothing_better_in_both, 0 },
		{ test_the_worst_rank_decides, 0 },
		{ test_windows_join_by_estimates, 0 },
		{ test_the_last_axis_changes_fastest, 0 },
		{ test_the_same_combination_is_there_once, 0 },
		{ test_candidates_are_understood_by_the_newest_release, 0 },
	};

	return suite_run("rank", tests, COUNT_OF(tests));
}
