/* SPDX-License-Identifier: MIT */
/* What a request is rounded to. */
#include "gpupool/knob.h"

#include <stdio.h>

#include "suite.h"

static const struct row {
	const char *conf;
	uint8_t release;
	uint64_t size, rounded;
} rows[] = {
	{ "", 15, 1, 512 },
	{ "", 15, 512, 512 },
	{ "", 15, 513, 1024 },
	{ "", 15, 1048577, 1049088 },
	{ "roundup_power2_divisions:2", 15, 2049, 3072 },
	{ "roundup_power2_divisions:4", 15, 2049, 2560 },
	{ "roundup_power2_divisions:8", 15, 2049, 2560 },
	{ "roundup_power2_divisions:2", 15, 1228800, 1572864 },
	{ "roundup_power2_divisions:4", 15, 1228800, 1310720 },
	{ "roundup_power2_divisions:16", 15, 1228800, 1245184 },
	{ "roundup_power2_divisions:2", 15, 7340033, 8388608 },
	{ "roundup_power2_divisions:8", 15, 7340033, 7864320 },
	/* From 2.4 on, one division counts as none; before that, nothing is
	 * rounded. */
	{ "roundup_power2_divisions:1", 4, 7340033, 7340544 },
	{ "roundup_power2_divisions:1", 2, 7340033, 7340033 },
	/* Intervals between two named ones are not rounded. */
	{ "roundup_power2_divisions:[64:8,256:4]", 15, 67108865, 75497472 },
	{ "roundup_power2_divisions:[64:8,256:4]", 15, 134217729, 134218240 },
	/* "beyond the last named one": from 2.10 on, that one itself is left
	 * alone. */
	{ "roundup_power2_divisions:[256:1,>:2]", 10, 268435457, 268435968 },
	{ "roundup_power2_divisions:[256:1,>:2]", 9, 268435457, 402653184 },
};

START_TEST(rounds_as_each_release_does)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_settings settings;
		struct gp_diag diag = { 0 };

		gp_settings_init(&settings, rows[i].release);
		ck_assert_int_eq(
			gp_settings_parse(&settings, rows[i].conf, &diag),
			GP_OK);
		ck_assert_msg(gp_settings_round(&settings, rows[i].size) ==
				      rows[i].rounded,
			      "row %zu", i);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ rounds_as_each_release_does, 0 },
	};

	return suite_run("rounding", tests, COUNT_OF(tests));
}
