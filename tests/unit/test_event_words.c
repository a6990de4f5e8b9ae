/* SPDX-License-Identifier: MIT */
/* Where a difference or a changed block is told, its event is told as a person
 * knows it: step, time and line. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "commands/verify_text.h"
#include "report/device_calls.h"
#include "suite.h"
#include "trace_text.h"

#define WORDS "step 8, 2.5 ms, train.py:42 (event 3)"

static const char text[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1,"
	"\"sites\": [\"train.py:42 forward\"],"
	"\"devices\": [{\"device\": 0, \"events\": ["
	"{\"op\": \"mark\", \"name\": \"ProfilerStep#7\", \"time\": 1000000},"
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"time\": 1000100},"
	"{\"op\": \"mark\", \"name\": \"ProfilerStep#8\", \"time\": 1002000},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 512, \"time\": 1002500,"
	" \"site\": 0},"
	"{\"op\": \"mark\", \"name\": \"ProfilerStep#9\", \"time\": 1004000}"
	"]}]}";

static char told[4096];

static FILE *tell(void)
{
	memset(told, 0, sizeof(told));
	return fmemopen(told, sizeof(told) - 1, "w");
}

START_TEST(test_a_difference)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_verify_result result = {
		.first = { .is_there = true, .event = 3 },
	};
	struct gp_verify_outcome all = { .trace = trace,
					 .result = &result,
					 .is_on_device = true };
	FILE *out = tell();

	gp_verify_text(&all, out);
	gp_verify_line("a.json", 8, &all, out);
	result.first.is_in_start = true;
	gp_verify_line("a.json", 8, &all, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(told, " differs at " WORDS "\n"));
	ck_assert_ptr_nonnull(strstr(told, "NOT EQUAL: "));
	ck_assert_ptr_nonnull(strstr(told, " at " WORDS "\n"));
	ck_assert_ptr_nonnull(
		strstr(told, "event 3 of the requests that rebuild"));
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_a_block_that_others_wrote_into)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_replay_result result = {
		.memory = { .blocks = 2,
			    .bytes = 1024,
			    .changed = 1,
			    .first_event = 3,
			    .first_seen = 5,
			    .first_size = 512 },
	};
	const struct gp_report_style style = { .columns = 400 };
	FILE *out = tell();
	struct gp_page page = gp_page_make(&style, out);

	gp_device_calls_print(&page, trace, 0, &result);
	fclose(out);
	ck_assert_ptr_nonnull(
		strstr(told, "allocated at " WORDS " and read at event 5."));
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_difference, 0 },
		{ test_a_block_that_others_wrote_into, 0 },
	};

	return suite_run("event_words", tests, COUNT_OF(tests));
}
