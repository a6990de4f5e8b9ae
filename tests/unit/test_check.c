/* SPDX-License-Identifier: MIT */
/* How large a trace's tables may be: their numbers have 16 bits, of which the
 * last two are no streams. */
#include "trace/check.h"

#include <stdlib.h>

#include "suite.h"
#include "trace_text.h"

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

int main(void)
{
	const struct suite_test tests[] = {
		{ there_are_so_many_streams, 0 },
		{ there_are_so_many_pools, 0 },
	};

	return suite_run("check", tests, COUNT_OF(tests));
}
