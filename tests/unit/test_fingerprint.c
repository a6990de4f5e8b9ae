/* SPDX-License-Identifier: MIT */
/* Fingerprints of runs: the number of marks, and their places. */
#include <stdlib.h>

#include "report/gate/gate.h"
#include "suite.h"
#include "trace_text.h"

/* A run with only that many requests. */
static struct gp_trace *trace_with(uint64_t requests)
{
	struct gp_trace *trace;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (uint64_t i = 0; i < requests; i++)
		fprintf(out, "%s{\"op\": \"empty_cache\"}", i ? "," : "");
	fputs("]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

static struct gp_fingerprint print_of(uint64_t requests, uint64_t spacing)
{
	struct gp_trace *trace = trace_with(requests);
	struct gp_fingerprint_maker maker;
	struct gp_fingerprint print;

	gp_fingerprint_begin(&maker, trace, 0, spacing, &print);
	gp_fingerprint_end(&maker);
	gp_trace_destroy(trace);
	return print;
}

/* A mark every so many requests, and one at the end. */
static void check_marks(const struct gp_fingerprint *print, uint64_t requests)
{
	uint32_t count = 0;

	ck_assert_uint_eq(print->requests, requests);
	for (uint64_t r = print->spacing; r < requests; r += print->spacing) {
		if (count == GP_FINGERPRINT_MARKS + 1)
			break;
		ck_assert_uint_eq(print->events[count++], r);
	}
	if (count < GP_FINGERPRINT_MARKS + 1)
		ck_assert_uint_eq(print->events[count++], requests);
	ck_assert_uint_eq(print->count, count);
}

/* The smallest power of two for which all marks fit. */
START_TEST(marks_are_as_close_as_there_is_room)
{
	static const struct {
		uint64_t requests, spacing;
	} rows[] = {
		{ 0, 1 },   { 1, 1 },	{ 2, 1 },    { 255, 1 },
		{ 256, 2 }, { 257, 2 }, { 511, 2 },  { 512, 4 },
		{ 513, 4 }, { 767, 4 }, { 1023, 4 }, { 1024, 8 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_fingerprint print = print_of(rows[i].requests, 0);

		ck_assert_uint_eq(print.spacing, rows[i].spacing);
		check_marks(&print, rows[i].requests);
	}
}
END_TEST

/* A run that grew may have more requests than there is room for marks at the
 * baseline's spacing. */
START_TEST(marks_end_where_there_is_no_more_room)
{
	for (uint64_t requests = 254; requests < 260; requests++) {
		struct gp_fingerprint print = print_of(requests, 1);

		check_marks(&print, requests);
	}
}
END_TEST

/* With a start of those three blocks, one of which may differ. */
static uint64_t program_of(const struct gp_segment *segment, int changed,
			   bool is_state)
{
	struct gp_block blocks[3] = { { .size = 512, .state = GP_ACTIVE },
				      { .size = 512, .state = GP_ACTIVE },
				      { .size = 512, .state = GP_ACTIVE } };
	const struct gp_event event = { .kind = GP_EMPTY_CACHE,
					.id = GP_NO_ID,
					.site = GP_NO_SITE };
	const struct gp_device_trace device = {
		.start = { segment, blocks, 1, 3 },
		.events = &event,
		.event_count = 1,
	};
	const struct gp_trace trace = { .devices = &device, .device_count = 1 };
	struct gp_fingerprint_maker maker;
	struct gp_fingerprint print;

	if (changed >= 0 && is_state)
		blocks[changed].state = GP_INACTIVE;
	else if (changed >= 0)
		blocks[changed].size = 1024;
	gp_fingerprint_begin(&maker, &trace, 0, 0, &print);
	gp_fingerprint_end(&maker);
	ck_assert_uint_gt(print.count, 0);
	return print.marks[0].program;
}

START_TEST(a_start_is_part_of_the_program)
{
	const struct gp_segment segment = { .size = 2048, .blocks = 3 };
	const struct gp_segment larger = { .size = 4096, .blocks = 3 };
	const uint64_t whole = program_of(&segment, -1, false);

	ck_assert_uint_eq(program_of(&segment, -1, true), whole);
	ck_assert_uint_ne(program_of(&larger, -1, false), whole);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ne(program_of(&segment, i, false), whole);
		ck_assert_uint_ne(program_of(&segment, i, true), whole);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ marks_are_as_close_as_there_is_room, 0 },
		{ marks_end_where_there_is_no_more_room, 0 },
		{ a_start_is_part_of_the_program, 0 },
	};

	return suite_run("fingerprint", tests, COUNT_OF(tests));
}
