/* SPDX-License-Identifier: MIT */
/* Axes: names, values, ranges. */
#include "gpupool/knob.h"
#include "study/sweep/grid.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define LARGEST (UINT64_C(1) << 20) /* request */

/* The values of an axis, separated by blanks. */
static void check_values(const char *text, const char *values)
{
	struct gp_diag diag = { 0 };
	char got[512] = "";
	struct gp_axis axis;

	ck_assert_int_eq(gp_axis_parse(text, LARGEST, &axis, &diag), GP_OK);
	for (size_t i = 0; i < axis.count; i++) {
		size_t used = strlen(got);

		snprintf(got + used, sizeof(got) - used, "%s%s", i ? " " : "",
			 axis.values[i]);
	}
	ck_assert_str_eq(got, values);
	gp_axis_release(&axis);
}

START_TEST(test_values_and_ranges)
{
	static const struct {
		const char *text, *values;
	} rows[] = {
		{ "max_split_size_mb=none,64,128", "none 64 128" },
		{ "max_split_size_mb=32..512*2", "32 64 128 256 512" },
		{ "max_split_size_mb=none,32..100*3,7", "none 32 96 7" },
		{ "garbage_collection_threshold=0.6..0.9+0.1",
		  "0.6 0.7 0.8 0.9" },
		{ "garbage_collection_threshold=0.5..1+0.25", "0.5 0.75 1" },
		{ "capacity=24GiB..40GiB+8GiB", "24GiB 32GiB 40GiB" },
		{ "capacity=1.5GiB..6GiB*2", "1.5GiB 3GiB 6GiB" },
		{ "roundup_power2_divisions=4,[256:1,>:8],8",
		  "4 [256:1,>:8] 8" },
		{ "expandable_segments=true,FALSE,None", "True False none" },
		{ "engine= caching , direct", "caching direct" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_values(rows[i].text, rows[i].values);
}
END_TEST

START_TEST(test_mistakes_are_named)
{
	static const struct {
		const char *text, *what;
	} rows[] = {
		{ "max_split_size_mb",
		  "--set max_split_size_mb has no values" },
		{ "max_split_size_mb=", "--set max_split_size_mb= has no "
					"values" },
		{ "max_split=4", "--set: neither PyTorch nor an engine has a "
				 "setting max_split" },
		{ "max_split_size_mb=1,,2", "a value is missing" },
		{ "max_split_size_mb=32..512", "32..512 is not a range" },
		{ "max_split_size_mb=512..32*2", "512..32*2 is not a range" },
		{ "max_split_size_mb=1..9*1", "1..9*1 is not a range" },
		{ "max_split_size_mb=0..9*2", "0..9*2 is not a range" },
		{ "max_split_size_mb=1..9+0", "1..9+0 is not a range" },
		{ "capacity=1GiB..9MiB+1", "1GiB..9MiB+1 is not a range" },
		{ "max_split_size_mb=1..9999999+1",
		  "1..9999999+1 has too many values" },
		{ "max_split_size_mb=1..9999999999999999999999*2",
		  "1..9999999999999999999999*2 is not a range" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		struct gp_axis axis;

		ck_assert_int_eq(
			gp_axis_parse(rows[i].text, LARGEST, &axis, &diag),
			GP_USAGE);
		ck_assert_str_eq(diag.what, rows[i].what);
	}
}
END_TEST

START_TEST(test_a_setting_is_replaced_or_left_out)
{
	static const struct {
		const char *conf, *name, *value, *made;
	} rows[] = {
		{ "", "a", "1", "a:1" },
		{ "a:1,b:2", "a", "3", "b:2,a:3" },
		{ "a:1,b:2", "a", NULL, "b:2" },
		{ " a : 1 , b:[x:1,y:2] ", "a", NULL, "b:[x:1,y:2]" },
		{ "b:[a:1,c:2],a:4", "a", NULL, "b:[a:1,c:2]" },
		{ "ab:1", "a", NULL, "ab:1" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *made =
			gp_conf_with(rows[i].conf, rows[i].name, rows[i].value);

		ck_assert_str_eq(made, rows[i].made);
		free(made);
	}
	ck_assert_uint_eq(gp_conf_length(""), 0);
	ck_assert_uint_eq(gp_conf_length("a:1,b:[c:1,d:2]"), 2);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_values_and_ranges, 0 },
		{ test_mistakes_are_named, 0 },
		{ test_a_setting_is_replaced_or_left_out, 0 },
	};

	return suite_run("grid", tests, COUNT_OF(tests));
}
