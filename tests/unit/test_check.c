/* SPDX-License-Identifier: MIT */
/* The largest sizes of a trace's tables: indices have 16 bits, and the last two
 * values are not streams. */
#include "trace/check.h"

#include <stdlib.h>

#include "random_trace.h"

static enum gp_status check(const struct gp_trace *trace)
{
	struct gp_diag diag = { 0 };

	return gp_trace_check(trace, &diag);
}

START_TEST(there_are_so_many_streams)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(""));
	struct gp_trace many = *trace;
	uint64_t *streams = calloc(GP_NO_STREAM, sizeof(*streams));

	for (size_t i = 0; i < GP_NO_STREAM; i++)
		streams[i] = i;
	many.streams = streams;
	many.stream_count = GP_NO_STREAM - 1;
	ck_assert_int_eq(check(&many), GP_OK);
	many.stream_count = GP_NO_STREAM;
	ck_assert_int_eq(check(&many), GP_INPUT);
	free(streams);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(there_are_so_many_pools)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(""));
	struct gp_trace many = *trace;
	struct gp_pool_id *pools = calloc(UINT16_MAX + 1, sizeof(*pools));

	for (size_t i = 0; i <= UINT16_MAX; i++)
		pools[i].second = i;
	many.pools = pools;
	many.pool_count = UINT16_MAX;
	ck_assert_int_eq(check(&many), GP_OK);
	many.pool_count = UINT16_MAX + 1;
	ck_assert_int_eq(check(&many), GP_INPUT);
	free(pools);
	gp_trace_destroy(trace);
}
END_TEST

/* A flag is 0 or 1. */
START_TEST(a_flag_has_two_values)
{
	struct gp_trace *trace = trace_like(
		1, &(struct trace_like){ .events = 1, .has_start = true });
	struct gp_segment *first =
		(struct gp_segment *)trace->devices[0].start.segments;
	bool *const flags[] = { &first->is_small, &first->is_expandable };

	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		bool before = *flags[i];

		for (int value = 0; value < 256; value++) {
			memset(flags[i], value, 1);
			if (value > 1)
				ck_assert_int_eq(check(trace), GP_INPUT);
		}
		*flags[i] = before;
		ck_assert_int_eq(check(trace), GP_OK);
	}
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ there_are_so_many_streams, 0 },
		{ there_are_so_many_pools, 0 },
		{ a_flag_has_two_values, 0 },
	};

	return suite_run("check", tests, COUNT_OF(tests));
}
