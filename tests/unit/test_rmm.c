/* SPDX-License-Identifier: MIT */
/* RMM's logs: what is read, and how they are refused. */
#include <inttypes.h>
#include <stdlib.h>

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

/* A time up to half a day earlier belongs to a line that is late; an even
 * earlier one to the next day. */
START_TEST(test_days_are_counted)
{
	static const struct {
		const char *time;
		uint64_t hours; /* since the first day began */
	} rows[] = {
		{ "11:00:00", 11 }, { "23:00:00", 23 }, { "12:00:00", 12 },
		{ "00:00:00", 0 },  { "13:00:00", 13 }, { "00:00:00", 24 },
		{ "11:00:00", 35 }, { "13:00:00", 37 }, { "22:00:00", 46 },
		{ "10:00:00", 34 }, { "23:00:00", 47 }, { "01:00:00", 49 },
		{ "14:00:00", 62 },
	};
	char text[2048] = HEADER;
	size_t n = strlen(text);
	struct gp_trace *t;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "1,%s,allocate,0x%zu0,7,0x0\n",
				      rows[i].time, i + 1);
	t = trace_of(text);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_uint_eq(event(t, i)->time_us,
				  rows[i].hours * UINT64_C(3600000000));
	gp_trace_destroy(t);
}
END_TEST

static uint64_t time_of(const char *time)
{
	char text[256];
	struct gp_trace *t;
	uint64_t us;

	snprintf(text, sizeof(text), HEADER "1,%s,allocate,0x10,7,0x0\n", time);
	t = trace_of(text);
	us = event(t, 0)->time_us;
	gp_trace_destroy(t);
	return us;
}

START_TEST(test_all_times_of_a_day)
{
	for (unsigned i = 0; i < 60; i++) {
		unsigned h = i % 24, m = i, s = 59 - i;
		uint64_t seconds = h * 3600 + m * 60 + s;
		char time[64];

		snprintf(time, sizeof(time), "%02u:%02u:%02u", h, m, s);
		ck_assert_uint_eq(time_of(time), seconds * 1000000);
		snprintf(time, sizeof(time), "%u:%u:%u:%06u", h, m, s, i);
		ck_assert_uint_eq(time_of(time), seconds * 1000000 + i);
		/* not an operation: the number that it begins with */
		snprintf(time, sizeof(time), "%02ux%02u:%02u", h, m, s);
		ck_assert_uint_eq(time_of(time), h * UINT64_C(1000000));
		snprintf(time, sizeof(time), "%02u:%02ux%02u", h, m, s);
		ck_assert_uint_eq(time_of(time), h * UINT64_C(1000000));
		snprintf(time, sizeof(time), "%02u:%02u:a%02u", h, m, s);
		ck_assert_uint_eq(time_of(time), h * UINT64_C(1000000));
	}
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
		/* A value that is not understood is 0, or the number that it
		 * begins with. */
		{ "x", 0 },
		{ "20000000000000000000", 0 },
		{ "18446744073708", UINT64_C(18446744073708000000) },
		{ "18446744073709", 0 },
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
	/* ten would be a digit of another base */
	{ "1,0,allocate,0x10,7a,0x0", "its size is 7a, not a number of bytes" },
	{ "1,0,allocate,0x10,0x7,0x0",
	  "its size is 0x7, not a number of bytes" },
	{ "1,0,allocate,0x1g,7,0x0", "its pointer is 0x1g, not an address" },
	{ "1,0,allocate,0x10,,0x0", "its size is , not a number of bytes" },
	{ "1,0,allocate,0x10,7,", "its stream is , not an address" },
	{ "1,0,\033[31mfree,0x10,7,0x0", "it is not a line of an RMM log" },
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
	ck_assert_str_eq(diag.what, "it is not a line of an RMM log");
}
END_TEST

/* Lines of at most 1,023 bytes, with and without a line that follows. */
START_TEST(test_lines_are_so_long_and_no_longer)
{
	for (int length = 1022; length <= 1025; length++)
		for (int is_last = 0; is_last < 2; is_last++) {
			char text[2048];
			struct gp_trace *trace;
			struct gp_diag diag;

			snprintf(text, sizeof(text),
				 HEADER "1,0,allocate,0x%0*d,7,0x0%s",
				 length - 21, 1, is_last ? "" : "\n");
			ck_assert_int_eq(try_text(text, &trace, &diag),
					 length < 1024 ? GP_OK : GP_INPUT);
			gp_trace_destroy(trace);
		}
}
END_TEST

START_TEST(test_a_log_may_be_its_first_line)
{
	char text[] = HEADER;
	struct gp_trace *trace;
	struct gp_diag diag;

	text[sizeof(HEADER) - 2] = '\0';
	ck_assert_int_eq(try_text(text, &trace, &diag), GP_OK);
	ck_assert_uint_eq(trace->devices[0].event_count, 0);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- generated logs ---- */

#define LINES  60
#define DAY_US UINT64_C(86400000000)

/* What a log says, line by line. */
struct log {
	FILE *out;
	uint64_t seed, lost;
	uint64_t clock_us;
	uint32_t live[8]; /* by address: the block's number + 1; 0: no block */
	struct gp_event events[2 * LINES];
	uint64_t streams[2 * LINES];
	size_t count;
	uint32_t names;
};

static uint64_t pick(struct log *log, uint64_t below)
{
	return next_random(&log->seed) % below;
}

/* In hexadecimal, in the forms of C libraries and people. */
static void put_hex(struct log *log, uint64_t number)
{
	static const char *const forms[] = { "0x%" PRIx64, "%" PRIx64,
					     "0x%" PRIX64, "0x%016" PRIx64,
					     "%018" PRIx64 };

	if (!number && !pick(log, 3))
		fputs("(nil)", log->out);
	else
		fprintf(log->out, forms[pick(log, COUNT_OF(forms))], number);
}

/* A time of day with that many digits after the second, or seconds since
 * 1970. */
static uint64_t put_time(struct log *log)
{
	static const uint64_t units[] = { 1000000, 100000, 10000, 1000,
					  100,	   10,	   1 };
	uint64_t digits = pick(log, COUNT_OF(units)), second;

	log->clock_us += pick(log, 3) * 1000000 + pick(log, 1000000);
	if (!pick(log, 9))
		log->clock_us += DAY_US / 4;
	log->clock_us -= log->clock_us % units[digits];
	second = log->clock_us / 1000000;
	if (pick(log, 8)) {
		fprintf(log->out,
			pick(log, 4) ? "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64
				     : "%" PRIu64 ":%" PRIu64 ":%" PRIu64,
			second / 3600 % 24, second / 60 % 60, second % 60);
	} else {
		fprintf(log->out, "%" PRIu64, second);
	}
	if (digits)
		fprintf(log->out, ".%0*" PRIu64, (int)digits,
			log->clock_us % 1000000 / units[digits]);
	return log->clock_us;
}

static void expect(struct log *log, enum gp_event_kind kind, uint8_t flags,
		   struct gp_event event, uint64_t stream)
{
	event.kind = (uint8_t)kind;
	event.flags = flags;
	log->streams[log->count] = stream;
	log->events[log->count++] = event;
}

static void expect_line(struct log *log, const char *action, uint64_t at,
			struct gp_event event, uint64_t stream)
{
	if (strchr(action, ' ')) {
		event.id = log->names++;
		expect(log, GP_ALLOC, GP_REFUSED, event, stream);
		expect(log, GP_FREE, GP_INFERRED, event, stream);
		return;
	}
	if (!event.size)
		return;
	event.id = log->live[at] - 1;
	if (*action == 'a') {
		log->lost += log->live[at] != 0;
		if (log->live[at])
			expect(log, GP_FREE, GP_INFERRED, event, stream);
		event.id = log->names++;
		log->live[at] = event.id + 1;
		expect(log, GP_ALLOC, 0, event, stream);
		return;
	}
	if (log->live[at])
		expect(log, GP_FREE, 0, event, stream);
	else
		log->lost++;
	log->live[at] = 0;
}

static void put_line(struct log *log)
{
	static const char *const actions[] = {
		"allocate", "allocate",	  "allocate",
		"free",	    "deallocate", "allocate failure"
	};
	static const char again[] = "\n" HEADER;
	static const char *const ends[] = { "\n", "\r\n", "\n\n", again };
	const char *action = actions[pick(log, COUNT_OF(actions))];
	uint64_t at = pick(log, COUNT_OF(log->live)), stream = pick(log, 4);
	struct gp_event event = { .size = pick(log, 12) };

	event.size *= UINT64_C(1) << 5 * pick(log, 11);
	fprintf(log->out, "%" PRIu64 ",", pick(log, 3));
	event.time_us = put_time(log);
	fprintf(log->out, ",%s,", action);
	put_hex(log, at << 4 * (3 + at));
	fprintf(log->out, pick(log, 4) ? ",%" PRIu64 "," : ",%019" PRIu64 ",",
		event.size);
	put_hex(log, stream);
	fputs(ends[pick(log, 5) ? 0 : pick(log, COUNT_OF(ends))], log->out);
	expect_line(log, action, at, event, stream == 1 ? 0 : stream);
}

/* Frees have the sizes of their blocks, whatever the line says. */
static void compare_log(const struct log *log, const struct gp_trace *t)
{
	const struct gp_device_trace *d = t->devices;
	uint64_t sizes[2 * LINES];

	ck_assert_uint_eq(d->event_count, log->count);
	ck_assert_uint_eq(d->guesses.lost_entries, log->lost);
	for (size_t i = 0; i < log->count; i++) {
		const struct gp_event *a = &d->events[i], *b = &log->events[i];

		ck_assert_int_eq(a->kind, b->kind);
		ck_assert_int_eq(a->flags, b->flags);
		ck_assert_uint_eq(a->id, b->id);
		ck_assert_uint_eq(a->addr, 0);
		if (a->kind == GP_ALLOC) {
			sizes[a->id] = b->size;
			ck_assert_uint_eq(t->streams[a->stream],
					  log->streams[i]);
		}
		ck_assert_uint_eq(a->size, b->flags || a->kind == GP_ALLOC
						   ? sizes[a->id]
						   : b->size);
		/* A time of day does not show its date. */
		ck_assert_uint_eq(a->time_us % 1000000, b->time_us % 1000000);
	}
}

START_TEST(test_made_up_logs_are_read_line_by_line)
{
	static struct log log;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		char *text;
		size_t length;
		struct gp_trace *t;

		log = (struct log){ .seed = seed,
				    .out = open_memstream(&text, &length) };
		fputs(HEADER, log.out);
		for (size_t i = 0; i < seed % LINES; i++)
			put_line(&log);
		fclose(log.out);
		t = trace_of(text);
		ck_assert_uint_eq(t->device_count, 1);
		compare_log(&log, t);
		gp_trace_destroy(t);
		free(text);
	}
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
		{ test_days_are_counted, 0 },
		{ test_all_times_of_a_day, 0 },
		{ test_times, 0 },
		{ test_bad_lines_are_named, 0 },
		{ test_a_line_has_an_end, 0 },
		{ test_lines_are_so_long_and_no_longer, 0 },
		{ test_a_log_may_be_its_first_line, 0 },
		{ test_made_up_logs_are_read_line_by_line, 0 },
	};

	return suite_run("rmm", tests, COUNT_OF(tests));
}
