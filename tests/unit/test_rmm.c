/* SPDX-License-Identifier: MIT */
/* RMM's logs: what is taken, and how they are refused. */
#include "suite.h"
#include "trace_text.h"

#define HEADER "Thread,Time,Action,Pointer,Size,Stream\n"

static const struct gp_event *event(const struct gp_trace *trace, size_t i)
{
	ck_assert_uint_lt(i, trace->devices[0].event_count);
	return &trace->devices[0].events[i];
}

START_TEST(test_addresses_tell_blocks_apart)
{
	struct gp_trace *t = trace_of(HEADER "1,0:0:1.5,allocate,0x10,7,0x0\n"
					     "1,0:0:2.5,free,0x10,7,0x0\n"
					     "2,0:0:3.5,allocate,10,8,0x1\r\n"
					     "\n"
					     "1,0:0:4:5,deallocate,10,8,0x0");

	ck_assert_uint_eq(t->devices[0].event_count, 4);
	ck_assert_uint_eq(event(t, 1)->id, event(t, 0)->id);
	ck_assert_uint_ne(event(t, 2)->id, event(t, 0)->id);
	ck_assert_uint_eq(event(t, 3)->id, event(t, 2)->id);
	ck_assert_uint_eq(event(t, 2)->size, 8);
	ck_assert_uint_eq(event(t, 2)->addr, 0);
	ck_assert_uint_eq(event(t, 3)->time_us, 4500000);
	ck_assert_uint_eq(t->stream_count, 1);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_numbers_may_begin_with_zeros)
{
	struct gp_trace *t =
		trace_of(HEADER "1,0,allocate,0x00007f0000000010,"
				"0000000000000000512,0x0\n"
				"1,0,free,0x7f0000000010,512,0x0\n");

	ck_assert_uint_eq(event(t, 0)->size, 512);
	ck_assert_uint_eq(event(t, 1)->id, event(t, 0)->id);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_what_does_not_match_is_counted)
{
	struct gp_trace *t = trace_of(HEADER "1,0,free,0x10,7,0x0\n"
					     "1,0,allocate,0x10,7,0x0\n"
					     "1,0,allocate,0x10,9,0x0\n");

	ck_assert_uint_eq(t->devices[0].guesses.lost_entries, 2);
	ck_assert_uint_eq(t->devices[0].event_count, 3);
	ck_assert_uint_eq(event(t, 1)->kind, GP_FREE);
	ck_assert_uint_eq(event(t, 1)->flags, GP_INFERRED);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_nothing_is_no_request)
{
	struct gp_trace *t = trace_of(HEADER "1,0,allocate,(nil),0,0x0\n"
					     "1,0,allocate,(nil),0,0x0\n"
					     "1,0,free,(nil),0,0x0\n");

	ck_assert_uint_eq(t->devices[0].event_count, 0);
	ck_assert_uint_eq(t->devices[0].guesses.lost_entries, 0);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_a_failure_is_tried_and_given_back)
{
	struct gp_trace *t =
		trace_of(HEADER "1,0,allocate failure,0x0,99,0x0\n");

	ck_assert_uint_eq(t->devices[0].event_count, 2);
	ck_assert_uint_eq(event(t, 0)->flags, GP_REFUSED);
	ck_assert_uint_eq(event(t, 1)->kind, GP_FREE);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_midnight_passes)
{
	struct gp_trace *t =
		trace_of(HEADER "1,23:59:59.0,allocate,0x10,7,0x0\n"
				"1,00:00:01.0,free,0x10,7,0x0\n"
				"1,00:00:00.9,allocate,0x10,7,0x0\n"
				"1,1700000000.25,free,0x10,7,0x0\n");

	ck_assert_uint_eq(event(t, 1)->time_us - event(t, 0)->time_us, 2000000);
	ck_assert_uint_eq(event(t, 2)->time_us, event(t, 1)->time_us - 100000);
	ck_assert_uint_eq(event(t, 3)->time_us, 1700000000250000);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_times)
{
	static const struct {
		const char *time;
		uint64_t us;
	} rows[] = {
		{ "01:02:03", 3723000000 },
		{ "1:2:3.5", 3723500000 },
		{ "01:02:03:000007", 3723000007 },
		{ "7", 7000000 },
		{ "7.25", 7250000 },
		/* What is not understood is 0, or the number it begins with. */
		{ "x", 0 },
		{ "20000000000000000000", 0 },
		{ "x1:02:03", 0 },
		{ "01:x2:03", 1000000 },
		{ "01:02:x3", 1000000 },
		{ "01-02:03", 1000000 },
		{ "01:0a:03", 1000000 },
		{ "01:0::03", 1000000 },
		{ "01:02-03", 1000000 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[256];
		struct gp_trace *t;

		snprintf(text, sizeof(text), HEADER "1,%s,allocate,0x1,7,0x0\n",
			 rows[i].time);
		t = trace_of(text);
		ck_assert_uint_eq(event(t, 0)->time_us, rows[i].us);
		gp_trace_destroy(t);
	}
}
END_TEST

static const struct {
	const char *line, *message;
} bad[] = {
	{ "1,0,allocate,0x10,7", "it does not have the six fields of "
				 "Thread,Time,Action,Pointer,Size,Stream" },
	{ "1,0,allocate,0x10,7,0x0,", "it does not have the six fields of "
				      "Thread,Time,Action,Pointer,Size,"
				      "Stream" },
	{ "1,0,malloc,0x10,7,0x0", "its action is malloc" },
	{ "1,0,allocate, 10,7,0x0", "its pointer is  10, not an address" },
	{ "1,0,\"free\\,0x10,7,0x0", "its action is \"free\\" },
	{ "1,0,allocate,here,7,0x0", "its pointer is here, not an address" },
	{ "1,0,allocate,0x10,-7,0x0", "its size is -7, not a number of bytes" },
	{ "1,0,allocate,0x10,1x12,0x0",
	  "its size is 1x12, not a number of bytes" },
	{ "1,0,allocate,0x10,,0x0", "its size is , not a number of bytes" },
	{ "1,0,allocate,0x10,7,", "its stream is , not an address" },
	{ "1,0,\033[31mfree,0x10,7,0x0", "it is no line of an RMM log" },
	{ "1,0,allocate,0x1ffffffffffffffff,7,0x0",
	  "its pointer is 0x1ffffffffffffffff, not an address" },
};

START_TEST(test_bad_lines_are_named)
{
	char text[256];
	struct gp_trace *trace;
	struct gp_diag diag;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		snprintf(text, sizeof(text),
			 HEADER "1,0,allocate,0x1,7,0x0\n%s\n", bad[i].line);
		ck_assert_int_eq(try_text(text, &trace, &diag), GP_INPUT);
		ck_assert_str_eq(diag.what, bad[i].message);
		ck_assert_str_eq(diag.record, "line 3");
	}
}
END_TEST

START_TEST(test_a_line_has_an_end)
{
	char text[4096] = HEADER;
	struct gp_trace *trace;
	struct gp_diag diag;

	memset(text + sizeof(HEADER) - 1, '1', 4000);
	ck_assert_int_eq(try_text(text, &trace, &diag), GP_INPUT);
	ck_assert_str_eq(diag.what, "it is no line of an RMM log");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_addresses_tell_blocks_apart, 0 },
		{ test_numbers_may_begin_with_zeros, 0 },
		{ test_what_does_not_match_is_counted, 0 },
		{ test_nothing_is_no_request, 0 },
		{ test_a_failure_is_tried_and_given_back, 0 },
		{ test_midnight_passes, 0 },
		{ test_times, 0 },
		{ test_bad_lines_are_named, 0 },
		{ test_a_line_has_an_end, 0 },
	};

	return suite_run("rmm", tests, COUNT_OF(tests));
}
