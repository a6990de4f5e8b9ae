/* SPDX-License-Identifier: MIT */
/* Reports of a difference or a changed block describe its event in a person's
 * terms: step, time and line. */
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

/* Two devices; the file's ids are 700 and 800, the trace's 0 and 1. */
static const char two_devices[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": ["
	"{\"device\": 0, \"events\": []},"
	"{\"device\": 3, \"events\": ["
	"{\"op\": \"alloc\", \"id\": 700, \"size\": 512},"
	"{\"op\": \"alloc\", \"id\": 800, \"size\": 512}]}]}";

/* For the second device's last event. */
static struct gp_verify_result a_difference(const struct gp_trace *trace)
{
	struct gp_verify_result result = { .actions = 2, .counters = 122 };
	struct gp_difference *d = &result.first;

	d->is_there = true;
	d->event = 1;
	d->request = trace->devices[1].events[1];
	return result;
}

static const char *told_of(const struct gp_trace *trace,
			   const struct gp_verify_result *result)
{
	const struct gp_verify_outcome all = { .trace = trace,
					       .device = 1,
					       .result = result,
					       .asked = 11,
					       .ran = 11,
					       .is_torch = true };
	FILE *out = tell();

	gp_verify_text(&all, out);
	gp_verify_line("a.json", 8, &all, out);
	fclose(out);
	return told;
}

START_TEST(test_what_differs_is_named_as_the_file_does)
{
	struct gp_trace *trace = trace_of(two_devices);
	struct gp_verify_result result = { .actions = 2, .counters = 122 };
	struct gp_difference *d = &result.first;

	ck_assert_ptr_nonnull(strstr(told_of(trace, &result),
				     "  equal to PyTorch 2.11, device 3\n"));
	result = a_difference(trace);
	told_of(trace, &result);
	ck_assert_ptr_nonnull(strstr(told, "alloc of block 800, 512 bytes"));
	ck_assert_ptr_nonnull(strstr(
		told, "NOT EQUAL to PyTorch 2.11, device 3: an action at "));
	/* There is nothing to list. */
	ck_assert_ptr_null(strstr(told, "identical"));
	ck_assert_ptr_null(strstr(told, "What follows"));
	d->theirs.actions[0].action.kind = GP_ALLOC;
	d->theirs.count = 1;
	told_of(trace, &result);
	ck_assert_ptr_null(strstr(told, "identical"));
	ck_assert_ptr_nonnull(strstr(told, "The first actions:\n"));
	d->request.id = trace->devices[1].block_ids;
	d->is_in_start = true;
	ck_assert_ptr_nonnull(
		strstr(told_of(trace, &result), "alloc of a placeholder, 512"));
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_what_differs_from_the_start_on)
{
	struct gp_trace *trace = trace_of(two_devices);
	struct gp_verify_result result = a_difference(trace);

	result.first.kind = GP_DIFFERENT_COUNTER;
	result.first.is_before_all = true;
	result.first.ours.stats.max_split_size = 5;
	told_of(trace, &result);
	ck_assert_ptr_nonnull(
		strstr(told, "a counter differs before the first request\n\n"
			     "Counters that differ:\n    max_split_size "));
	ck_assert_ptr_nonnull(
		strstr(told, ": a counter before the first request\n"));
	ck_assert_ptr_null(strstr(told, "alloc of"));
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_an_error_that_both_raised)
{
	struct gp_trace *trace = trace_of(two_devices);
	struct gp_verify_result result = a_difference(trace);

	snprintf(result.first.ours.refusal, sizeof(result.first.ours.refusal),
		 "no such fraction");
	result.first.theirs = result.first.ours;
	told_of(trace, &result);
	ck_assert_ptr_nonnull(strstr(told, "at event 0: no such fraction\n"));
	ck_assert_ptr_null(strstr(told, "event 1: no such fraction"));
	*result.first.ours.refusal = '\0';
	result.first.theirs.is_refusal_in_start = true;
	told_of(trace, &result);
	ck_assert_ptr_nonnull(strstr(told, "event 1: no such fraction"));
	ck_assert_ptr_nonnull(strstr(told,
				     "at event 0 of the requests that rebuild "
				     "the start: no such fraction\n"));
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
		{ test_what_differs_is_named_as_the_file_does, 0 },
		{ test_what_differs_from_the_start_on, 0 },
		{ test_an_error_that_both_raised, 0 },
		{ test_a_block_that_others_wrote_into, 0 },
	};

	return suite_run("event_words", tests, COUNT_OF(tests));
}
