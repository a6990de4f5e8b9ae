/* SPDX-License-Identifier: MIT */
/* What a snapshot's history says about its program and its start state. */
#include "gpupool/trace.h"

#include "snapshot_text.h"
#include "trace/check.h"

START_TEST(a_free_and_its_completion_are_one_event)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		"", ENTRY("segment_alloc", 2097152, 2097152) ", " ENTRY(
			    "alloc", 2097152,
			    4) ", " ENTRY("free_requested", 2097152,
					  4) ", " ENTRY("free_completed",
							2097152, 4)));

	ck_assert_str_eq(kinds_of(trace), "segment_alloc alloc free");
	ck_assert_uint_eq(trace->devices[0].events[2].flags, GP_AT_ONCE);
	gp_trace_destroy(trace);
}
END_TEST

/* If a history has no completions, frees are complete at once. */
START_TEST(a_free_without_any_completion_is_one_at_once)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		"", ENTRY("segment_alloc", 2097152, 2097152) ", " ENTRY(
			    "alloc", 2097152,
			    4) ", " ENTRY("free_requested", 2097152,
					  4) ", " ENTRY("alloc", 2097152, 4)));

	ck_assert_str_eq(kinds_of(trace), "segment_alloc alloc free alloc");
	ck_assert_uint_eq(trace->devices[0].guesses.late_frees, 0);
	gp_trace_destroy(trace);
}
END_TEST

/* A window may end before any of its blocks was completed. */
START_TEST(what_still_waits_at_the_end_was_not_freed_at_once)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(2097152, 2097152, "small",
			BLOCK(2097152, 512, 4,
			      "active_pending_free") ", " BLOCK(2097664,
								2096640, 0,
								INACTIVE)),
		ENTRY("free_requested", 2097152, 4)));
	const struct gp_block *block = trace->devices[0].start.blocks;

	ck_assert_str_eq(kinds_of(trace), "record_stream free");
	ck_assert_int_eq(block->state, GP_ACTIVE);
	ck_assert_uint_eq(block->id, trace->devices[0].end.blocks[0].id);
	ck_assert_uint_eq(trace->devices[0].guesses.lost_entries, 0);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_late_completion_means_another_stream)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		"",
		ENTRY("segment_alloc", 2097152, 2097152) ", " ENTRY(
			"alloc", 2097152,
			4) ", " ENTRY("free_requested", 2097152,
				      4) ", " ENTRY("alloc", 2097664,
						    4) ", " ENTRY("free_"
								  "completed",
								  2097152, 4)));

	ck_assert_str_eq(kinds_of(trace),
			 "segment_alloc alloc record_stream free alloc "
			 "synchronize free_completed");
	ck_assert_uint_eq(trace->devices[0].guesses.late_frees, 1);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(segments_given_back_for_nothing_are_empty_cache)
{
	struct gp_trace *trace =
		whole(SNAPSHOT("", ENTRY("segment_free", 2097152, 2097152)));

	ck_assert_str_eq(kinds_of(trace), "empty_cache segment_free");
	ck_assert_uint_eq(trace->devices[0].guesses.empty_caches, 1);
	ck_assert_uint_eq(trace->devices[0].start.segment_count, 1);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(segments_given_back_for_a_larger_one_are_the_allocators)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(20971520, 41943040, "large",
			BLOCK(20971520, 41943040, 41943040, ACTIVE)),
		ENTRY("segment_free", 209715200, 20971520) ", " ENTRY(
			"segment_alloc", 20971520,
			41943040) ", " ENTRY("alloc", 20971520, 41943040)));

	ck_assert_str_eq(kinds_of(trace), "segment_free segment_alloc alloc");
	gp_trace_destroy(trace);
}
END_TEST

/* The allocator searches its segments before it makes room. Here, it has two
 * segments, in a step that begins with empty_cache, when the most memory ever
 * is reserved. */
START_TEST(what_could_have_served_is_not_given_back_to_make_room)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(20971520, 20971520, "large",
			BLOCK(20971520, 20971520, 20971520, ACTIVE)),
		ENTRY("segment_free", 209715200, 25165824) ", " ENTRY(
			"segment_alloc", 20971520,
			20971520) ", " ENTRY("alloc", 20971520, 20971520)));

	ck_assert_str_eq(kinds_of(trace),
			 "empty_cache segment_free segment_alloc alloc");
	gp_trace_destroy(trace);
}
END_TEST

/* The block that is waited for in the meantime lies elsewhere. */
START_TEST(what_was_free_before_the_wait_is_not_given_back_to_make_room)
{
#define ASKED ENTRY("free_requested", 314572800, 2097152) ", "
#define OTHER ENTRY("alloc", 4194304, 512) ", "
#define DONE  ENTRY("free_completed", 314572800, 2097152) ", "
#define GIVEN ENTRY("segment_free", 209715200, 25165824) ", "
#define GROWN ENTRY("segment_alloc", 20971520, 20971520) ", "
#define TAKEN ENTRY("alloc", 20971520, 20971520)
	struct gp_trace *trace = whole(
		SNAPSHOT(SEGMENT(20971520, 20971520, "large",
				 BLOCK(20971520, 20971520, 20971520, ACTIVE)),
			 ASKED OTHER DONE GIVEN GROWN TAKEN));

	/* The large segment of the start state: which of such segments is older
	 * is a guess. */
	ck_assert_uint_eq(trace->devices[0].guesses.segment_order, 1);
	ck_assert_str_eq(kinds_of(trace), "alloc empty_cache segment_free "
					  "segment_alloc alloc");
	gp_trace_destroy(trace);
}
END_TEST

/* The block that is waited for lies in that segment. Before or after it there
 * was room for the request, whose block is up to 1 MiB larger, or there was
 * not. */
static const struct {
	const char *asked, *done;
	bool had_room;
} waits[] = {
	{ ENTRY("free_requested", 209715200, 3145728),
	  ENTRY("free_completed", 209715200, 3145728), true },
	{ ENTRY("free_requested", 209715200, 3146240),
	  ENTRY("free_completed", 209715200, 3146240), false },
	{ ENTRY("free_requested", 230686720, 1048576),
	  ENTRY("free_completed", 230686720, 1048576), true },
	{ ENTRY("free_requested", 230686208, 1048576),
	  ENTRY("free_completed", 230686208, 1048576), false },
};

START_TEST(what_was_free_beside_what_is_waited_for_is_not_given_back)
{
	for (size_t i = 0; i < COUNT_OF(waits); i++) {
		char text[2048];
		struct gp_trace *trace;

		snprintf(text, sizeof(text),
			 SNAPSHOT(SEGMENT(20971520, 20971520, "large",
					  BLOCK(20971520, 20971520, 20971520,
						ACTIVE)),
				  "%s, " OTHER "%s, " GIVEN GROWN TAKEN),
			 waits[i].asked, waits[i].done);
		trace = whole(text);
		ck_assert_uint_eq(trace->devices[0].guesses.empty_caches,
				  waits[i].had_room);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Pages of 20 MiB are released, and these are mapped next. A retry would have
 * reserved its addresses before it released others' pages. */
static const struct {
	unsigned addr, size, stream;
	bool is_programs;
} mapped_again[] = {
	{ 20971520, 41943040, 0, false }, { 20971520, 41943040, 7, true },
	{ 20971520, 2097152, 0, true },	  { 104857600, 41943040, 7, false },
	{ 41943040, 41943040, 7, false }, /* right after them */
};

START_TEST(addresses_that_another_stream_or_pool_has_next_were_given_up)
{
	static const char form[] =
		"{\"segments\": [{\"address\": %u, \"total_size\": %u, "
		"\"stream\": %u, \"segment_type\": \"large\", "
		"\"is_expandable\": true, \"blocks\": [{\"size\": %u, "
		"\"state\": \"inactive\"}]}], \"device_traces\": [["
		"{\"action\": \"segment_unmap\", \"addr\": 20971520, "
		"\"size\": 20971520, \"stream\": 0}, "
		"{\"action\": \"segment_map\", \"addr\": %u, \"size\": %u, "
		"\"stream\": %u}]]}";

	for (size_t i = 0; i < COUNT_OF(mapped_again); i++) {
		unsigned addr = mapped_again[i].addr;
		unsigned size = mapped_again[i].size;
		unsigned stream = mapped_again[i].stream;
		char text[1024];
		struct gp_trace *trace;

		snprintf(text, sizeof(text), form, addr, size, stream, size,
			 addr, size, stream);
		trace = whole(text);
		ck_assert_uint_eq(trace->devices[0].guesses.empty_caches,
				  mapped_again[i].is_programs);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Pages amid the 40 MiB of a request are unmapped and mapped again. The request
 * could have had them before, unless a part of them was waited for, or it gets
 * more than these. */
START_TEST(pages_amid_a_free_block_are_not_given_back_for_it)
{
	static const struct {
		unsigned completed, given, grown;
		bool is_programs;
	} rows[] = {
		{ 31456768, 20971520, 20971520, true }, /* right before it */
		{ 31457280, 20971520, 20971520, false },
		{ 41943040, 20971520, 20971520, false },
		{ 73399808, 20971520, 20971520, false },
		{ 73400320, 20971520, 20971520, true }, /* right after it */
		{ 209715200, 41943040, 20971520, true },
		{ 209715200, 20971520, 41943040, false },
	};
	static const char form[] = SNAPSHOT(
		"{\"address\": 20971520, \"total_size\": 62914560, "
		"\"stream\": 0, \"segment_type\": \"large\", "
		"\"is_expandable\": true, \"blocks\": ["
		"{\"size\": 10485760, \"state\": \"inactive\"}, "
		"{\"size\": 41943040, \"state\": \"active_allocated\"}, "
		"{\"size\": 10485760, \"state\": \"inactive\"}]}",
		ASKED OTHER
			ENTRY_AS("free_completed", "%u", "512") ", " ENTRY_AS(
				"segment_unmap", "41943040",
				"%u") ", " ENTRY_AS("segment_map", "41943040",
						    "%u") ", " ENTRY("alloc",
								     31457280,
								     41943040));

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[2048];
		struct gp_trace *trace;

		snprintf(text, sizeof(text), form, rows[i].completed,
			 rows[i].given, rows[i].grown);
		trace = whole(text);
		ck_assert_msg(trace->devices[0].guesses.empty_caches ==
				      rows[i].is_programs,
			      "%zu", i);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* A request of up to 1 MiB is served from small segments, a larger one from
 * large segments that have room for it. */
START_TEST(what_has_the_requests_size_could_have_served_it)
{
	static const struct {
		unsigned given, grown, taken;
		bool could;
	} rows[] = {
		{ 25165824, 2097152, 1048576, false },
		{ 25165824, 20971520, 1049088, true },
		{ 2097152, 2097152, 1048576, true },
		{ 2097152, 20971520, 1049088, false },
		{ 20971520, 20971520, 20971520, true },
		{ 18874368, 20971520, 20971520, false },
	};
	static const char form[] = SNAPSHOT(
		SEGMENT_AS("20971520", "%u", "%s",
			   "{\"size\": %u, \"state\": \"active_allocated\"}"
			   "%s"),
		ENTRY_AS("segment_free", "209715200", "%u") ", " ENTRY_AS(
			"segment_alloc", "20971520",
			"%u") ", " ENTRY_AS("alloc", "20971520", "%u"));

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned rest = rows[i].grown - rows[i].taken;
		char text[1024], free_block[64] = "";
		struct gp_trace *trace;

		if (rest)
			snprintf(free_block, sizeof(free_block),
				 ", {\"size\": %u, \"state\": \"inactive\"}",
				 rest);
		snprintf(text, sizeof(text), form, rows[i].grown,
			 rows[i].grown == 2097152 ? "small" : "large",
			 rows[i].taken, free_block, rows[i].given,
			 rows[i].grown, rows[i].taken);
		trace = whole(text);
		ck_assert_msg(trace->devices[0].guesses.empty_caches ==
				      rows[i].could,
			      "%zu", i);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* 20 of 40 MiB were free, and max_split_size_mb does not keep requests from
 * using them. */
START_TEST(free_parts_serve_requests_that_whole_segments_do_not)
{
	struct gp_trace *trace = whole(
		"{\"segments\": [], \"allocator_settings\": "
		"{\"PYTORCH_CUDA_ALLOC_CONF\": \"max_split_size_mb:32\"}, "
		"\"device_traces\": [[" ENTRY("free_requested", 209715200,
					      20971520) ", " OTHER
			ENTRY("free_completed", 209715200, 20971520) ", " ENTRY(
				"segment_free", 209715200,
				41943040) ", " GROWN ENTRY("alloc", 20971520,
							   4194304) "]]}");

	ck_assert_uint_eq(trace->devices[0].guesses.empty_caches, 1);
	gp_trace_destroy(trace);
}
END_TEST

/* A retry releases oversize segments first: those of at least that many MiB. */
START_TEST(oversize_segments_make_room_before_others)
{
#define OVERSIZE ENTRY("segment_free", 209715200, 41943040)
#define LARGE	 ENTRY("segment_free", 104857600, 20971520)
	static const struct {
		const char *conf, *first, *second, *taken;
		unsigned empty_caches;
	} rows[] = {
		{ "32", OVERSIZE, LARGE, ENTRY("alloc", 20971520, 62914560),
		  0 },
		{ "32", LARGE, OVERSIZE, ENTRY("alloc", 20971520, 62914560),
		  1 },
		{ "32", LARGE, OVERSIZE, ENTRY("alloc", 20971520, 1048577), 1 },
		{ "32", LARGE, OVERSIZE, ENTRY("alloc", 20971520, 1048576), 0 },
		/* The segment has 40 MiB. */
		{ "40", LARGE, OVERSIZE, ENTRY("alloc", 20971520, 62914560),
		  1 },
		{ "41", LARGE, OVERSIZE, ENTRY("alloc", 20971520, 62914560),
		  0 },
		/* The garbage collector has its own order. */
		{ "32,garbage_collection_threshold:0.9", LARGE, OVERSIZE,
		  ENTRY("alloc", 20971520, 62914560), 0 },
	};
	static const char form[] =
		UNDER("max_split_size_mb:%s",
		      SEGMENT(20971520, 62914560, "large",
			      BLOCK(20971520, 62914560, 62914560, ACTIVE)),
		      "%s, %s, %s, %s");
	const char *grown = ENTRY("segment_alloc", 20971520, 62914560);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[1024];
		struct gp_trace *trace;

		snprintf(text, sizeof(text), form, rows[i].conf, rows[i].first,
			 rows[i].second, grown, rows[i].taken);
		trace = whole(text);
		ck_assert_uint_eq(trace->devices[0].guesses.empty_caches,
				  rows[i].empty_caches);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* The block that is waited for begins at the end of that segment. */
START_TEST(what_lies_behind_a_segment_does_not_hold_it)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(20971520, 20971520, "large",
			BLOCK(20971520, 20971520, 20971520, ACTIVE)),
		ENTRY("free_requested", 234881024, 2097152) ", " OTHER ENTRY(
			"free_completed", 234881024,
			2097152) ", " GIVEN GROWN TAKEN));

	ck_assert_str_eq(kinds_of(trace), "alloc empty_cache segment_free "
					  "segment_alloc alloc");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_is_freed_where_nothing_is_was_lost)
{
	struct gp_trace *trace = whole(
		SNAPSHOT("", ENTRY("free_requested", 2097152, 512) ", " ENTRY(
				     "free_requested", 4194304, 512)));

	ck_assert_uint_eq(trace->devices[0].guesses.lost_entries, 2);
	gp_trace_destroy(trace);
}
END_TEST

/* Entries that are not lost keep their blocks apart, first and last. */
START_TEST(what_is_lost_leaves_the_others)
{
#define GOES_AT(addr)                                                          \
	ENTRY("free_requested", addr, 512)                                     \
	", " ENTRY("free_completed", addr, 512)
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(2097152, 2097152, "small",
			BLOCK(2097152, 2097152, 0, INACTIVE)),
		GOES_AT(2097152) ", " ENTRY("free_requested", 8388608,
					    512) ", " GOES_AT(2097664)));
	const struct gp_device_trace *d = &trace->devices[0];

	ck_assert_uint_eq(d->guesses.lost_entries, 1);
	ck_assert_uint_eq(d->block_ids, 2);
	ck_assert_uint_eq(d->start.blocks[0].id, 0);
	ck_assert_uint_eq(d->start.blocks[1].id, 1);
	ck_assert_uint_eq(d->events[0].id, 0);
	ck_assert_uint_eq(d->events[1].id, 1);
	gp_trace_destroy(trace);
}
END_TEST

#define MARK(name, time)                                                       \
	"{\"device\": 0, \"time_us\": " #time ", \"name\": \"" name            \
	"\", \"stage\": \"START\"}"

START_TEST(annotations_come_in_the_order_of_their_times)
{
	struct gp_trace *trace = whole(
		"{\"segments\": [], \"device_traces\": [[{\"action\": "
		"\"segment_alloc\", \"addr\": 2097152, \"size\": 2097152, "
		"\"stream\": 0, \"time_us\": 1}, {\"action\": \"alloc\", "
		"\"addr\": 2097152, \"size\": 512, \"stream\": 0, "
		"\"time_us\": 2}]], \"external_annotations\": [" MARK(
			"last", 9) ", " MARK("first", 7) ", " MARK("second",
								   7) "]}");
	static const char *const names[] = { "first", "second", "last" };
	const struct gp_device_trace *d = &trace->devices[0];
	size_t n = 0;

	for (size_t i = 0; i < d->event_count; i++)
		if (d->events[i].kind == GP_MARK)
			ck_assert_str_eq(trace->texts[d->events[i].text],
					 names[n++]);
	ck_assert_uint_eq(n, 3);
	gp_trace_destroy(trace);
}
END_TEST

/* Three annotations at any times, with events at four times. Each annotation
 * goes after the events that are not later, and after earlier annotations of
 * the same time. */
#define LAST_TIME 7

static void expect_order(const unsigned *times, char *order)
{
	static const unsigned events[] = { 2, 4, 4, 6 };
	size_t n = 0;

	for (unsigned time = 1; time <= LAST_TIME; time++) {
		for (unsigned i = 0; i < 4; i++)
			if (events[i] == time)
				order[n++] = 'e';
		for (unsigned i = 0; i < 3; i++)
			if (times[i] == time)
				order[n++] = (char)('0' + i);
	}
	order[n] = 0;
}

static void read_order(const struct gp_trace *trace, char *order)
{
	const struct gp_device_trace *d = &trace->devices[0];

	ck_assert_uint_eq(d->event_count, 7);
	for (size_t i = 0; i < 7; i++)
		order[i] = d->events[i].kind == GP_MARK
				   ? *trace->texts[d->events[i].text]
				   : 'e';
	order[7] = 0;
}

START_TEST(annotations_come_between_the_events_of_their_times)
{
#define TIMED(addr, time)                                                      \
	"{\"action\": \"alloc\", \"addr\": " #addr ", \"size\": 512, "         \
	"\"stream\": 0, \"time_us\": " #time "}"
#define NAMED(name)                                                            \
	"{\"device\": 0, \"time_us\": %u, \"name\": \"" name                   \
	"\", \"stage\": \"START\"}"
#define EVENTS                                                                 \
	TIMED(512, 2)                                                          \
	", " TIMED(1024, 4) ", " TIMED(1536, 4) ", " TIMED(2048, 6)
#define NAMES NAMED("0") ", " NAMED("1") ", " NAMED("2")
	static const char form[] =
		"{\"segments\": [], \"device_traces\": [[" EVENTS
		"]], \"external_annotations\": [" NAMES "]}";

	for (unsigned i = 0; i < LAST_TIME * LAST_TIME * LAST_TIME; i++) {
		const unsigned times[] = { 1 + i % LAST_TIME,
					   1 + i / LAST_TIME % LAST_TIME,
					   1 + i / LAST_TIME / LAST_TIME };
		char text[1024], want[8], got[8];
		struct gp_trace *trace;

		snprintf(text, sizeof(text), form, times[0], times[1],
			 times[2]);
		trace = whole(text);
		expect_order(times, want);
		read_order(trace, got);
		ck_assert_str_eq(got, want);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* If the last event has no time, or if there are no events, annotations have no
 * places. */
START_TEST(annotations_need_the_time_of_the_last_event)
{
	for (unsigned with = 0; with < 16; with++)
		for (unsigned count = 0; count <= 4; count++) {
			char text[1024], *at = text, *end = text + sizeof(text);
			struct gp_trace *trace;
			unsigned marks = 0;

			at += snprintf(
				at, (size_t)(end - at),
				"{\"segments\": [], \"device_traces\": [[%s",
				count ? "" : ENTRY("free_completed", 512, 512));
			for (unsigned i = 0; i < count; i++)
				at += snprintf(
					at, (size_t)(end - at),
					"%s{\"action\": \"alloc\", "
					"\"addr\": %u, \"size\": 512, "
					"\"stream\": 0, \"time_us\": %u}",
					i ? ", " : "", 512 * (i + 1),
					with >> i & 1 ? i + 1 : 0);
			snprintf(at, (size_t)(end - at),
				 "]], \"external_annotations\": [" NAMED(
					 "0") ", " NAMED("1") "]}",
				 2, 9);
			trace = whole(text);
			for (size_t i = 0; i < trace->devices[0].event_count;
			     i++)
				marks += trace->devices[0].events[i].kind ==
					 GP_MARK;
			ck_assert_uint_eq(marks,
					  count && with >> (count - 1) & 1 ? 2
									   : 0);
			ck_assert_uint_eq(trace->devices[0].event_count,
					  count + marks);
			gp_trace_destroy(trace);
		}
}
END_TEST

/* In a file that contradicts itself, the end state counts. */
START_TEST(a_segment_given_back_over_one_that_stays_was_not_there)
{
	static const char *const files[] = {
#define OVER(addr, size)                                                       \
	SNAPSHOT(SEGMENT(20971520, 20971520, "large",                          \
			 BLOCK(20971520, 20971520, 20971520, ACTIVE)),         \
		 ENTRY("segment_free", addr, size))
		OVER(31457280, 20971520), /* its upper half and more */
		OVER(10485760, 20971520), /* its lower half and more */
	};

	for (size_t i = 0; i < COUNT_OF(files); i++) {
		struct gp_trace *trace = whole(files[i]);

		ck_assert_uint_eq(trace->devices[0].start.segment_count, 1);
		gp_trace_destroy(trace);
	}
}
END_TEST

#define SERVED(addr, size)                                                     \
	ENTRY("segment_alloc", addr, size) ", " ENTRY("alloc", addr, size)
#define CAME_AND_WENT(addr, size)                                              \
	SERVED(addr, size)                                                     \
	", " ENTRY("free_requested", addr, size) ", " ENTRY(                   \
		"free_completed", addr, size) ", " ENTRY("segment_free", addr, \
							 size) ", "

/* 20 MiB cannot serve a larger request; but 60 were reserved before, so there
 * was room for that many. */
static const struct {
	const char *text;
	uint64_t empty_caches;
} rooms[] = {
#define GOES(conf, size)                                                       \
	UNDER(conf,                                                            \
	      SEGMENT(419430400, size, "large",                                \
		      BLOCK(419430400, size, size, ACTIVE)),                   \
	      CAME_AND_WENT(209715200, 62914560)                               \
		      CAME_AND_WENT(20971520, 20971520)                        \
			      SERVED(419430400, size))
	{ GOES("", 31457280), 2 },
	{ GOES("", 41943040), 2 },
	{ GOES("", 44040192), 1 },
	{ GOES("max_split_size_mb:64", 41943040), 2 },
	/* The garbage collector releases segments that were not needed. */
	{ GOES("garbage_collection_threshold:0.6", 31457280), 1 },
	/* But it does not release small ones. */
	{ UNDER("garbage_collection_threshold:0.6",
		SEGMENT(419430400, 31457280, "large",
			BLOCK(419430400, 31457280, 31457280, ACTIVE)),
		CAME_AND_WENT(209715200, 62914560) CAME_AND_WENT(
			20971520, 2097152) SERVED(419430400, 31457280)),
	  2 },
};

START_TEST(what_is_given_back_while_there_is_room_is_empty_cache)
{
	for (size_t i = 0; i < COUNT_OF(rooms); i++) {
		struct gp_trace *trace = whole(rooms[i].text);

		ck_assert_uint_eq(trace->devices[0].guesses.empty_caches,
				  rooms[i].empty_caches);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* The request is the one that was refused, not the small one after it. */
START_TEST(what_makes_room_before_a_refusal_stays_the_allocators)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		"", ENTRY("segment_free", 209715200, 20971520) ", " OOM(
			    41943040) ", " ENTRY("segment_alloc", 20971520,
						 2097152) ", " ENTRY("alloc",
								     20971520,
								     512)));

	ck_assert_str_eq(kinds_of(trace),
			 "segment_free oom alloc free segment_alloc alloc");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_refused_request_is_one_that_lives_no_time)
{
	struct gp_trace *trace = whole(SNAPSHOT("", OOM(1024)));
	const struct gp_event *events = trace->devices[0].events;

	ck_assert_str_eq(kinds_of(trace), "oom alloc free");
	ck_assert_uint_eq(events[1].flags, GP_INFERRED | GP_REFUSED);
	ck_assert_uint_eq(events[1].size, 1024);
	gp_trace_destroy(trace);
}
END_TEST

/* 12,000,000 bytes are rounded to 12,000,256; the segment has 12 MiB, and the
 * rest, less than 1 MiB, belongs to the block. */
START_TEST(slack_behind_a_block_is_the_blocks)
{
	struct gp_trace *trace = whole(
		SNAPSHOT(SEGMENT(20971520, 12582912, "large",
				 BLOCK(20971520, 12582912, 0, INACTIVE)),
			 ENTRY("free_requested", 20971520, 12000000) ", " ENTRY(
				 "free_completed", 20971520, 12000000)));
	const struct gp_state *start = &trace->devices[0].start;

	ck_assert_uint_eq(start->block_count, 1);
	ck_assert_uint_eq(start->blocks[0].size, 12582912);
	ck_assert_uint_eq(start->blocks[0].requested, 12000000);
	ck_assert_uint_eq(trace->devices[0].guesses.block_slack, 1);
	gp_trace_destroy(trace);
}
END_TEST

/* A request of 2 MiB, before a long free run. The next block allocated after it
 * begins there or later, so that is where this one ended. */
START_TEST(a_later_neighbour_shows_where_a_block_ended)
{
	static const struct {
		unsigned at, slack;
	} rows[] = {
		{ 20971520, 524288 },  { 1048576, 524288 }, /* below its size */
		{ 20971520, 0 },       { 20971520, 512 },
		{ 20971520, 1048576 },
	};
	static const char form[] = SNAPSHOT(
		SEGMENT_AS("%u", "20971520", "large",
			   BLOCK_AS("%u", "%u", "0", INACTIVE) ", " BLOCK_AS(
				   "%u", "3145728", "3145728",
				   ACTIVE) ", " BLOCK_AS("%u", "%u", "0",
							 INACTIVE)),
		ENTRY_AS("alloc", "%u", "3145728") ", " ENTRY_AS(
			"free_requested", "%u",
			"2097152") ", " ENTRY_AS("free_completed", "%u",
						 "2097152"));

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned at = rows[i].at, size = 2097152 + rows[i].slack;
		char text[2048];
		struct gp_trace *trace;
		const struct gp_state *start;

		snprintf(text, sizeof(text), form, at, at, size, at + size,
			 at + size + 3145728, 20971520 - size - 3145728,
			 at + size, at, at);
		trace = whole(text);
		start = &trace->devices[0].start;
		ck_assert_uint_eq(start->block_count, 2);
		ck_assert_uint_eq(start->blocks[0].size, size);
		ck_assert_uint_eq(trace->devices[0].guesses.block_slack,
				  rows[i].slack != 0);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* No entry is about the block: it was there at the start, with the stack that
 * the snapshot still has for it. */
START_TEST(a_block_that_is_only_in_the_end_was_there_from_the_start)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(2097152, 2097152, "small",
			"{\"address\": 2097152, \"size\": 1024, "
			"\"requested_size\": 600, \"state\": "
			"\"active_allocated\", \"frames\": [{\"filename\": "
			"\"a.py\", \"line\": 7, \"name\": \"f\"}]}, " BLOCK(
				2098176, 2096128, 0, INACTIVE)),
		ENTRY("alloc", 2098176, 512)));
	const struct gp_block *block = trace->devices[0].start.blocks;

	ck_assert_uint_eq(trace->devices[0].start.block_count, 2);
	ck_assert_uint_eq(block->size, 1024);
	ck_assert_uint_eq(block->requested, 600);
	ck_assert_int_eq(block->state, GP_ACTIVE);
	ck_assert_uint_eq(block->id, trace->devices[0].end.blocks[0].id);
	ck_assert_str_eq(trace->texts[trace->sites[block->site].text],
			 "a.py:7 f");
	ck_assert_uint_eq(trace->devices[0].guesses.start_blocks, 0);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(the_first_entry_may_be_half_a_free)
{
	struct gp_trace *trace =
		whole(SNAPSHOT(SEGMENT(2097152, 2097152, "small",
				       BLOCK(2097152, 2097152, 0, INACTIVE)),
			       ENTRY("free_completed", 2097152, 512)));

	ck_assert_str_eq(kinds_of(trace), "free");
	ck_assert_uint_eq(trace->devices[0].start.blocks[0].state, GP_ACTIVE);
	gp_trace_destroy(trace);
}
END_TEST

/* The completion shows that there would be others, so this free is complete,
 * too. */
START_TEST(half_a_free_is_a_completion)
{
	struct gp_trace *trace =
		whole(SNAPSHOT(SEGMENT(2097152, 2097152, "small",
				       BLOCK(2097152, 2097152, 0, INACTIVE)),
			       ENTRY("free_completed", 2097152, 512) ", " ENTRY(
				       "free_requested", 2097664, 512)));

	ck_assert_str_eq(kinds_of(trace), "free record_stream free");
	gp_trace_destroy(trace);
}
END_TEST

/* A recording that contradicts itself can still be written. */
START_TEST(what_does_not_fit_before_the_next_block_had_asked_for_less)
{
	struct gp_trace *trace = whole(SNAPSHOT(
		SEGMENT(2097152, 2097152, "small",
			BLOCK(2097152, 2097152, 0, INACTIVE)),
		ENTRY("free_requested", 2097152, 2048) ", " ENTRY(
			"free_completed", 2097152,
			2048) ", " ENTRY("free_requested", 2097408,
					 512) ", " ENTRY("free_completed",
							 2097408, 512)));
	const struct gp_state *start = &trace->devices[0].start;
	struct gp_diag diag = { 0 };

	ck_assert_uint_eq(start->blocks[0].size, 256);
	ck_assert_uint_eq(start->blocks[0].requested, 256);
	ck_assert_int_eq(gp_state_check(start, &diag), GP_OK);
	gp_trace_destroy(trace);
}
END_TEST

/* Before the remaining entries, and so before its segment is released. */
START_TEST(half_a_free_comes_before_the_outcomes_behind_it)
{
	struct gp_trace *trace = whole(
		SNAPSHOT("", ENTRY("free_completed", 2097152, 512) ", " ENTRY(
				     "segment_free", 2097152, 2097152)));

	ck_assert_str_eq(kinds_of(trace), "free empty_cache segment_free");
	gp_trace_destroy(trace);
}
END_TEST

/* A block for an oversize request is never split, so less than 20 MiB after it
 * belong to it; other blocks get up to 1 MiB. */
static const struct {
	const char *text;
	uint64_t size;
} oversize[] = {
#define FREED_IN(segment, conf)                                                \
	UNDER(conf,                                                            \
	      SEGMENT(41943040, segment, "large",                              \
		      BLOCK(41943040, segment, 0, INACTIVE)),                  \
	      ENTRY("free_requested", 41943040, 41943040))
	{ FREED_IN(44040192, "max_split_size_mb:40"), 44040192 },
	{ FREED_IN(44040192, "max_split_size_mb:41"), 41943040 },
	{ FREED_IN(44040192, ""), 41943040 },
	{ FREED_IN(62914048, "max_split_size_mb:40"), 62914048 },
	{ FREED_IN(62914560, "max_split_size_mb:40"), 41943040 },
};

START_TEST(what_is_behind_an_oversize_block_is_the_blocks)
{
	for (size_t i = 0; i < COUNT_OF(oversize); i++) {
		struct gp_trace *trace = whole(oversize[i].text);

		ck_assert_uint_eq(trace->devices[0].start.blocks[0].size,
				  oversize[i].size);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* A range of 20 MiB in the middle of a reservation, and pages mapped below it
 * later: these are in the same reservation while any of it is mapped. */
#define RANGE(addr, stream)                                                    \
	"{\"device\": 0, \"address\": " #addr ", \"total_size\": 20971520, "   \
	"\"stream\": " #stream ", \"segment_type\": \"large\", "               \
	"\"is_expandable\": true, \"blocks\": [" BLOCK(addr, 20971520, 0,      \
						       INACTIVE) "]}"
#define UPPER_GOES	  ENTRY("segment_unmap", 419430400, 20971520) ", "
#define LOWER_COMES(size) ENTRY("segment_map", 209715200, size)
#define LOWEST_COMES	  ENTRY("segment_map", 104857600, 20971520)

static const struct {
	const char *text;
	uint64_t offset;
} fronts[] = {
	{ SNAPSHOT(RANGE(209715200, 0) ", " RANGE(419430400, 0),
		   LOWER_COMES(20971520)),
	  209715200 },
	{ SNAPSHOT(RANGE(209715200, 0),
		   LOWER_COMES(20971520) ", " ENTRY("segment_unmap", 419430400,
						    20971520)),
	  209715200 },
	{ SNAPSHOT(RANGE(104857600, 0) ", " RANGE(209715200,
						  0) ", " RANGE(419430400, 0),
		   LOWEST_COMES ", " LOWER_COMES(20971520)),
	  314572800 },
	/* The range between them remains. */
	{ SNAPSHOT(RANGE(104857600, 0) ", " RANGE(209715200, 0),
		   LOWER_COMES(20971520) ", " UPPER_GOES LOWEST_COMES),
	  314572800 },
	/* Another reservation: of another stream, or of small blocks. */
	{ SNAPSHOT(RANGE(209715200, 0), UPPER_GOES LOWER_COMES(20971520)), 0 },
	{ SNAPSHOT(RANGE(209715200, 0) ", " RANGE(419430400, 1),
		   LOWER_COMES(20971520)),
	  0 },
	{ SNAPSHOT(RANGE(419430400, 0), LOWER_COMES(2097152)), 0 },
};

START_TEST(what_is_mapped_below_was_reserved_at_the_start)
{
	for (size_t i = 0; i < COUNT_OF(fronts); i++) {
		struct gp_trace *trace = whole(fronts[i].text);
		const struct gp_state *start = &trace->devices[0].start;

		ck_assert_uint_eq(start->segment_count, 1);
		ck_assert_uint_eq(start->segments[0].addr, 419430400);
		ck_assert_uint_eq(start->segments[0].offset, fronts[i].offset);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(a_snapshot_from_the_start_is_complete)
{
	struct gp_trace *trace = whole(
		SNAPSHOT(SEGMENT(2097152, 2097152, "small",
				 BLOCK(2097152, 512, 4, ACTIVE) ", " BLOCK(
					 2097664, 2096640, 0, INACTIVE)),
			 ENTRY("segment_alloc", 2097152,
			       2097152) ", " ENTRY("alloc", 2097152, 4)));

	ck_assert(trace->is_complete);
	ck_assert_uint_eq(trace->devices[0].start.segment_count, 0);
	ck_assert_uint_eq(trace->devices[0].end.blocks[0].id, 0);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_free_and_its_completion_are_one_event, 0 },
		{ a_free_without_any_completion_is_one_at_once, 0 },
		{ what_still_waits_at_the_end_was_not_freed_at_once, 0 },
		{ a_late_completion_means_another_stream, 0 },
		{ segments_given_back_for_nothing_are_empty_cache, 0 },
		{ segments_given_back_for_a_larger_one_are_the_allocators, 0 },
		{ what_could_have_served_is_not_given_back_to_make_room, 0 },
		{ what_was_free_before_the_wait_is_not_given_back_to_make_room,
		  0 },
		{ what_was_free_beside_what_is_waited_for_is_not_given_back,
		  0 },
		{ addresses_that_another_stream_or_pool_has_next_were_given_up,
		  0 },
		{ pages_amid_a_free_block_are_not_given_back_for_it, 0 },
		{ what_has_the_requests_size_could_have_served_it, 0 },
		{ free_parts_serve_requests_that_whole_segments_do_not, 0 },
		{ oversize_segments_make_room_before_others, 0 },
		{ what_lies_behind_a_segment_does_not_hold_it, 0 },
		{ what_is_freed_where_nothing_is_was_lost, 0 },
		{ what_is_lost_leaves_the_others, 0 },
		{ annotations_come_in_the_order_of_their_times, 0 },
		{ annotations_come_between_the_events_of_their_times, 0 },
		{ annotations_need_the_time_of_the_last_event, 0 },
		{ a_segment_given_back_over_one_that_stays_was_not_there, 0 },
		{ what_is_given_back_while_there_is_room_is_empty_cache, 0 },
		{ what_makes_room_before_a_refusal_stays_the_allocators, 0 },
		{ a_refused_request_is_one_that_lives_no_time, 0 },
		{ slack_behind_a_block_is_the_blocks, 0 },
		{ a_later_neighbour_shows_where_a_block_ended, 0 },
		{ a_block_that_is_only_in_the_end_was_there_from_the_start, 0 },
		{ the_first_entry_may_be_half_a_free, 0 },
		{ half_a_free_is_a_completion, 0 },
		{ half_a_free_comes_before_the_outcomes_behind_it, 0 },
		{ what_is_behind_an_oversize_block_is_the_blocks, 0 },
		{ what_is_mapped_below_was_reserved_at_the_start, 0 },
		{ what_does_not_fit_before_the_next_block_had_asked_for_less,
		  0 },
		{ a_snapshot_from_the_start_is_complete, 0 },
	};

	return suite_run("history", tests, COUNT_OF(tests));
}
