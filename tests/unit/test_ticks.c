/* SPDX-License-Identifier: MIT */
/* The times of events, in the formats of other viewers. */
#include "report/exchange/exchange.h"

#include "suite.h"
#include "trace_text.h"

#define DEVICE(n, time)                                                        \
	"{\"device\": " #n ", \"events\": [{\"op\": \"empty_cache\"}, "        \
	"{\"op\": \"empty_cache\"" time "}]}"
#define TRACE(devices)                                                         \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[" devices "]}"
#define AT(us) ", \"time\": " #us

START_TEST(the_first_of_all_times_counts)
{
	static const struct {
		const char *text;
		uint64_t first;
	} rows[] = {
		{ TRACE(DEVICE(0, "")), 0 },
		{ TRACE(DEVICE(0, AT(5))), 5 },
		{ ONE_DEVICE("{\"op\": \"empty_cache\"" AT(3) "}"), 3 },
		{ TRACE(DEVICE(0, AT(5)) "," DEVICE(1, AT(7))), 5 },
		{ TRACE(DEVICE(0, AT(7)) "," DEVICE(1, AT(5))), 5 },
		/* One of the devices has no times. */
		{ TRACE(DEVICE(0, "") "," DEVICE(1, AT(5))), 5 },
		{ TRACE(DEVICE(0, AT(5)) "," DEVICE(1, "")), 5 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(rows[i].text);

		ck_assert_uint_eq(ticks_first(trace), rows[i].first);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* An event without a time has that of the event before; if there are no times,
 * each event takes one microsecond. */
START_TEST(time_never_goes_back)
{
#define EVENT(time) "{\"op\": \"empty_cache\"" time "}"
	static const struct {
		const char *text;
		uint64_t times[4];
	} rows[] = {
		{ ONE_DEVICE(EVENT("") "," EVENT("") "," EVENT("")),
		  { 1, 2, 3 } },
		{ ONE_DEVICE(EVENT("") "," EVENT(AT(9)) "," EVENT(
			  AT(8)) "," EVENT(AT(10))),
		  { 9, 9, 9, 10 } },
		{ ONE_DEVICE(EVENT(AT(9)) "," EVENT("") "," EVENT(AT(12))),
		  { 9, 9, 12 } },
		{ ONE_DEVICE(EVENT(AT(1)) "," EVENT("") "," EVENT(AT(12))),
		  { 1, 1, 12 } },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(rows[i].text);
		struct ticks ticks;

		ticks_begin(&ticks, trace->devices);
		for (size_t k = 0; k < trace->devices->event_count; k++)
			ck_assert_uint_eq(ticks_of(&ticks, k),
					  rows[i].times[k]);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_first_of_all_times_counts, 0 },
		{ time_never_goes_back, 0 },
	};

	return suite_run("ticks", tests, COUNT_OF(tests));
}
