/* SPDX-License-Identifier: MIT */
/* The summary that PyTorch prints, with its units and spaces. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

static char *summary(const struct gp_stats *stats, bool is_abbreviated)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gp_report_device_summary(stats, 3, is_abbreviated, out);
	fclose(out);
	return text;
}

/* Cells of the first row, "Allocated memory", for these totals. */
START_TEST(test_units)
{
	const struct {
		int64_t value;
		const char *cell;
	} rows[] = {
		{ 0, "|      0 B   |" },
		{ 786431, "| 786431 B   |" },
		{ 786432, "|    768 KiB |" },
		{ INT64_C(768) << 20, "|    768 MiB |" },
		{ (INT64_C(768) << 20) - 1, "| 786431 KiB |" },
		{ INT64_C(85899345920), "|  81920 MiB |" },
		{ INT64_C(1) << 62, "|   4096 PiB |" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_stats stats = { 0 };
		char expected[64], *text;

		stats.by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL].current =
			rows[i].value;
		snprintf(expected, sizeof(expected), "Allocated memory      %s",
			 rows[i].cell);
		text = summary(&stats, true);
		ck_assert_ptr_nonnull(strstr(text, expected));
		free(text);
	}
}
END_TEST

START_TEST(test_pools_share_the_unit_of_their_sum)
{
	struct gp_stats stats = { 0 };
	struct gp_stat *by_pool = stats.by_pool[GP_STAT_ALLOCATION];
	char *text;

	by_pool[GP_STAT_ALL].freed = 750000;
	by_pool[GP_STAT_LARGE].freed = 749001;
	by_pool[GP_STAT_SMALL].freed = 999;
	text = summary(&stats, false);
	ck_assert_ptr_nonnull(strstr(text, "| Allocations           |       0  "
					   "  |       0    |       0    "
					   "|     750 K  |\n"
					   "|       from large pool |       0  "
					   "  |       0    |       0    "
					   "|     749 K  |\n"
					   "|       from small pool |       0  "
					   "  |       0    |       0    "
					   "|       0 K  |\n"));
	free(text);
}
END_TEST

START_TEST(test_every_line_is_as_wide)
{
	struct gp_stats stats = { .num_ooms = 7, .num_alloc_retries = 12 };
	char *text = summary(&stats, false);
	size_t lines = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1, lines++)
		ck_assert_uint_eq(strcspn(at, "\n"), 77);
	ck_assert_uint_eq(lines, 47);
	ck_assert_ptr_nonnull(strstr(text, "device ID 3  "));
	ck_assert_ptr_nonnull(strstr(text, "CUDA OOMs: 7  "));
	ck_assert_ptr_nonnull(strstr(text, "cudaMalloc retries: 12  "));
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_units, 0 },
		{ test_pools_share_the_unit_of_their_sum, 0 },
		{ test_every_line_is_as_wide, 0 },
	};

	return suite_run("memory_summary", tests, COUNT_OF(tests));
}
