/* SPDX-License-Identifier: MIT */
/* minimalloc's own challenges: each is packed into one MiB. */
#include "study/floor/floor.h"

#include <stdio.h>

#include "span_use.h"
#include "suite.h"

#define CHALLENGES "../shared/snapshots/minimalloc-"

static void solve(const char *path)
{
	struct gp_spans spans;
	struct gp_diag diag = { 0 };
	struct gp_floor floor;
	FILE *file = fopen(path, "r");

	if (!file)
		skip_test("minimalloc", "there is no " CHALLENGES "*.csv");
	fclose(file);
	ck_assert(gp_spans_is_csv(path));
	ck_assert_int_eq(gp_spans_read(path, &spans, &diag), GP_OK);
	gp_floor_find(&(struct gp_floor_config){ .spans = &spans,
						 .capacity = 1048576 },
		      &floor);
	ck_assert(is_valid(&spans, floor.offsets));
	ck_assert_uint_le(floor.height, 1048576);
	gp_floor_release(&floor);
	gp_spans_release(&spans);
}

START_TEST(challenge_a_fits_a_mebibyte)
{
	solve(CHALLENGES "A.csv");
}
END_TEST

START_TEST(challenge_c_fits_a_mebibyte)
{
	solve(CHALLENGES "C.csv");
}
END_TEST

START_TEST(challenge_f_fits_a_mebibyte)
{
	solve(CHALLENGES "F.csv");
}
END_TEST

START_TEST(challenge_k_fits_a_mebibyte)
{
	solve(CHALLENGES "K.csv");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ challenge_a_fits_a_mebibyte, 0 },
		{ challenge_c_fits_a_mebibyte, 0 },
		{ challenge_f_fits_a_mebibyte, 0 },
		{ challenge_k_fits_a_mebibyte, 0 },
	};

	return suite_run("minimalloc", tests, COUNT_OF(tests));
}
