/* SPDX-License-Identifier: MIT */
/* The JSON readers: what they accept, and how they refuse the rest. */
#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

#define HEADER "{\"format\": \"gpupool-trace\", \"version\": 1, "
#define START(segment)                                                         \
	HEADER "\"devices\": [{\"device\": 0, \"start\": "                     \
	       "{\"segments\": [" segment "]}}]}"
#define SEGMENT "{\"address\": 4096, \"total_size\": 512, \"blocks\": ["

/* An event that must be refused, and the message. */
static const struct {
	const char *event, *message;
} bad_events[] = {
	{ "{\"op\": \"alloc\", \"size\": 4}", "alloc has no \"id\"" },
	{ "{\"op\": \"alloc\", \"id\": 1}", "alloc has no \"size\"" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": null}",
	  "alloc has no \"size\"" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": -4}",
	  "\"size\" of alloc is -4; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": 1e300}",
	  "\"size\" of alloc is 1.0000000000000001e300; it must be a whole "
	  "number from 0 to 2^64 - 1" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": \"4\"}",
	  "\"size\" of alloc is \"4\"; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": 9223372036854775808}",
	  "alloc of 9223372036854775808 bytes" },
	{ "{\"op\": \"alloc\", \"id\": [1], \"size\": 4}",
	  "\"id\" of alloc is a list; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": 4, \"stream\": -1}",
	  "\"stream\" of alloc is -1; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": 4, \"pool\": [1]}",
	  "\"pool\" of alloc is a list; it must be two whole numbers, as "
	  "[0, 1]" },
	{ "{\"op\": \"alloc\", \"id\": 1, \"size\": 4, \"site\": 0}",
	  "there is no site 0" },
	{ "{\"op\": \"free\", \"id\": 7}", "free of id 7, which is not live" },
	{ "{\"op\": \"record_stream\", \"id\": 7, \"stream\": 1}",
	  "record_stream of id 7, which is not live" },
	{ "{\"op\": \"synchronize\", \"id\": 7}",
	  "synchronize of id 7, which is not known" },
	{ "{\"op\": \"synchronize\", \"stream\": 1, \"by\": true}",
	  "\"by\" of synchronize is true; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ "{\"op\": \"synchronize\", \"by\": 2}",
	  "\"by\" of synchronize is 2; it must be beside a \"stream\" and no "
	  "\"id\"" },
	{ "{\"op\": \"set_memory_fraction\"}",
	  "set_memory_fraction has no \"fraction\"" },
	{ "{\"op\": \"pool_begin\"}", "pool_begin has no \"pool\"" },
	{ "{\"op\": \"other_memory\"}", "other_memory has no \"bytes\"" },
	{ "{\"op\": \"mark\", \"name\": 3}",
	  "\"name\" of mark is 3; it must be a text" },
	{ "{\"op\": \"mark\", \"name\": \"a\", \"stage\": \"middle\"}",
	  "\"stage\" of mark is \"middle\"; it must be start or end, or "
	  "absent" },
	{ "{\"op\": \"foo\"}", "unknown op \"foo\"" },
	{ "{\"op\": \"alloc2\"}", "unknown op \"alloc2\"" },
	{ "{\"op\": \"freed\"}", "unknown op \"freed\"" },
	{ "{\"id\": 1}", "the event has no \"op\"" },
	{ "{\"op\": \"empty_cache\", \"device\": 1024}",
	  "there is no device 1024" },
	{ "7", "\"events\" of the list is 7; it must be objects, each with an "
	       "\"op\"" },
};

START_TEST(test_bad_events_are_named)
{
	for (size_t i = 0; i < COUNT_OF(bad_events); i++) {
		char text[512], want[512];

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"empty_cache\"}, %s"),
			 bad_events[i].event);
		snprintf(want, sizeof(want), "event 1: %s",
			 bad_events[i].message);
		ck_assert_str_eq(error_of(text), want);
	}
}
END_TEST

/* A whole file that must be refused, and the message. */
static const struct {
	const char *text, *message;
} bad_files[] = {
	{ "{}", "it is JSON, but not a trace" },
	{ "[]", "it is an empty list, not a trace" },
	{ "{\"op\": \"empty_cache\"}", "it is JSON, but not a trace" },
	{ "{\"format\": \"other\"}", "the format \"other\" is not known" },
	{ "{\"format\": \"gpupool-trace\", \"devices\": []}",
	  "the header has no \"version\"" },
	{ "{\"version\": 1, \"devices\": []}", "the header has no \"format\"" },
	{ "{\"format\": \"gpupool-trace\", \"version\": 2}",
	  "gpupool-trace version 2" },
	{ HEADER "\"devices\": {}}", "line 1, byte 53: a '[' is missing here" },
	{ HEADER "\"devices\": [{\"events\": []}]}",
	  "devices, element 0: \"device\" must come before \"events\"" },
	{ HEADER "\"settings\": 3}",
	  "\"settings\" of the trace is 3; it must be a text" },
	{ HEADER "\"frees\": \"later\"}",
	  "\"frees\" of the trace is \"later\"; it must be at_once, or "
	  "absent" },
	{ HEADER "\"sites\": [\"a\"], \"callers\": [0]}",
	  "callers, element 0: site 0 cannot call site 0" },
	{ HEADER "\"devices\": [", "line 1, byte 54: it ends too early" },
	{ HEADER "\"devices\": []", "line 1, byte 55: it ends too early" },
	{ HEADER "\"settings\": \"",
	  "line 1, byte 55: it ends inside a string" },
	{ HEADER "\"settings\": \"\",,}",
	  "line 1, byte 57: a key is missing here" },
	{ HEADER "\"more\": nul}", NULL }, /* skipped, like any unknown key */
	{ HEADER "\"settings\": nul}",
	  "line 1, byte 54: invalid token near 'nul'" },
	{ HEADER "\"devices\": []}\n\n{\"op\": \"free\"}",
	  "event 0: free has no \"id\"" },
	{ HEADER "\"devices\": []}\n\nfree",
	  "line 3, byte 58: invalid token near 'free'" },
	{ START("{}"), "start, segment 0: a segment has no \"address\"" },
	{ START("{\"address\": 4096}"),
	  "start, segment 0: a segment has no \"total_size\"" },
	{ START(SEGMENT "{\"state\": \"inactive\"}]}"),
	  "start, segment 0: a block has no \"size\"" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"free\"}]}"),
	  "start, segment 0: \"state\" of a block is \"free\"; it must be "
	  "active_allocated, active_pending_free or inactive" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\"}]}"),
	  "start, block 0x1000: a live block has no id" },
	{ START(SEGMENT "{\"size\": 256, \"state\": \"inactive\"}]}"),
	  "segment 0x1000: its blocks do not cover the segment" },
	{ HEADER "\"release\": {\"first\": \"a\", \"last\": 3}}",
	  "\"first\" of release is \"a\"; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ HEADER "\"release\": {\"first\": 3, \"last\": []}}",
	  "\"last\" of release is a list; it must be a whole number from 0 to "
	  "2^64 - 1" },
	{ HEADER "\"frees\": 3}",
	  "\"frees\" of the trace is 3; it must be at_once, or absent" },
	{ HEADER "\"values\": 7}",
	  "\"values\" of the trace is 7; it must be a text" },
	{ HEADER "\"sites\": 7}", "line 1, byte 51: a '[' is missing here" },
	{ HEADER "\"sites\": [\"a\"], \"callers\": [4294967296]}",
	  "callers, element 0: site 4294967294 cannot call site 0" },
	{ HEADER "\"sites\": [\"a\"], \"callers\": [\"x\"]}",
	  "\"callers\" of the list is \"x\"; it must be a whole number from 0 "
	  "to 2^64 - 1" },
	{ HEADER "\"owners\": [7]}", "an owner has no \"category\"" },
	{ START(SEGMENT "{\"address\": \"x\", \"size\": 4096, \"state\": "
			"\"inactive\"}]}"),
	  "start, segment 0: \"address\" of a block is \"x\"; it must be a "
	  "whole number from 0 to 2^64 - 1" },
	{ START(SEGMENT "{\"size\": \"x\", \"address\": 4096, \"state\": "
			"\"inactive\"}]}"),
	  "start, segment 0: \"size\" of a block is \"x\"; it must be a whole "
	  "number from 0 to 2^64 - 1" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"inactive\", "
			"\"requested_size\": \"x\"}]}"),
	  "start, segment 0: \"requested_size\" of a block is \"x\"; it must "
	  "be a whole number from 0 to 2^64 - 1" },
	{ START(SEGMENT "{\"size\": 512, \"state\": 3}]}"),
	  "start, segment 0: \"state\" of a block is 3; it must be "
	  "active_allocated, active_pending_free or inactive" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\", "
			"\"id\": \"x\"}]}"),
	  "start, segment 0: \"id\" of a block is \"x\"; it must be a whole "
	  "number from 0 to 2^64 - 1" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\", "
			"\"id\": 1, \"site\": \"x\"}]}"),
	  "start, segment 0: \"site\" of a block is \"x\"; it must be an index "
	  "into \"sites\"" },
	/* It has no index; a trace in memory has this value for a missing
	 * site. */
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\", "
			"\"id\": 1, \"site\": 4294967295}]}"),
	  "start, segment 0: \"site\" of a block is 4294967295; it must be an "
	  "index into \"sites\"" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\", "
			"\"id\": 1, \"owner\": 4294967295}]}"),
	  "start, segment 0: \"owner\" of a block is 4294967295; it must be an "
	  "index into \"owners\"" },
	{ START(SEGMENT "{\"size\": 512, \"state\": \"active_allocated\", "
			"\"id\": 1, \"owner\": \"x\"}]}"),
	  "start, segment 0: \"owner\" of a block is \"x\"; it must be an "
	  "index into \"owners\"" },
	{ START(SEGMENT "3]}"), "start, segment 0: a block has no \"size\"" },
	{ START("3"), "line 1, byte 91: a '{' is missing here" },
	{ HEADER "\"devices\": [{\"device\": 0, \"start\": 3}]}",
	  "line 1, byte 77: a '{' is missing here" },
	{ HEADER
	  "\"devices\": [{\"device\": 0, \"start\": {\"segments\": 3}}]}",
	  "line 1, byte 90: a '[' is missing here" },
	{ START("{\"address\": 4096, \"total_size\": 512, \"segment_type\": "
		"\"medium\"}"),
	  "start, segment 0: \"segment_type\" of a segment is \"medium\"; it "
	  "must be small or large" },
	{ START("{\"address\": 4096, \"total_size\": 512, \"segment_type\": "
		"3}"),
	  "start, segment 0: \"segment_type\" of a segment is 3; it must be "
	  "small or large" },
	{ HEADER "\"source\": {\"torch\": \"2.x\"}, \"devices\": []}", NULL },
	{ HEADER "\"source\": {\"torch\": \"2.300\"}, \"devices\": []}", NULL },
	{ HEADER "\"source\": {\"torch\": 7}, \"devices\": []}", NULL },
	{ HEADER
	  "\"release\": {\"first\": 300, \"last\": 400}, \"devices\": []}",
	  NULL },
	{ START("{\"address\": 4096, \"total_size\": 512, \"segment_type\": "
		"null}"),
	  "segment 0x1000: it has no blocks" },
	{ "{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1}]]}",
	  "device 0, entry 0: it has no size" },
	{ "{\"segments\": [{\"address\": 1}]}",
	  "segment 0: it has no total_size" },
	{ "{\"segments\": []} 1",
	  "line 1, byte 17: there is more after its end" },
	{ HEADER "\"a\x01\": 1, \"devices\": []}",
	  "line 1, byte 42: control character 0x1 near '\"a'" },
};

START_TEST(test_bad_files_are_explained)
{
	for (size_t i = 0; i < COUNT_OF(bad_files); i++)
		if (bad_files[i].message)
			ck_assert_str_eq(error_of(bad_files[i].text),
					 bad_files[i].message);
		else
			gp_trace_destroy(trace_of(bad_files[i].text));
}
END_TEST

static char *repeat(const char *before, const char *part, size_t n,
		    const char *after)
{
	size_t length = strlen(part), first = strlen(before);
	char *text = malloc(first + n * length + strlen(after) + 1);

	memcpy(text, before, first);
	for (size_t i = 0; i < n; i++)
		memcpy(text + first + i * length, part, length);
	memcpy(text + first + n * length, after, strlen(after) + 1);
	return text;
}

START_TEST(test_depth_is_bounded)
{
	static const struct {
		const char *before, *part, *message;
	} rows[] = {
		{ "", "[", "line 1, byte 2: a '{' is missing here" },
		{ "{\"x\": ", "[",
		  "line 1, byte 206: brackets are nested too "
		  "deeply" },
		{ HEADER "\"settings\": ", "{\"a\": ",
		  "line 1, byte 1254: brackets are nested too deeply" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *text = repeat(rows[i].before, rows[i].part, 200000, "");

		ck_assert_str_eq(error_of(text), rows[i].message);
		free(text);
	}
}
END_TEST

START_TEST(test_an_item_is_bounded)
{
	char *text = repeat(HEADER "\"settings\": \"", "0123456789abcdef",
			    (16 << 20) / 16 + 1, "\"}");

	ck_assert_str_eq(error_of(text),
			 "line 1, byte 54: a single item of more than 16 MiB");
	free(text);
	/* Including its quotes, it has the largest length. */
	text = repeat(HEADER "\"settings\": \"01234567890123",
		      "0123456789abcdef", (16 << 20) / 16 - 1, "\"}");
	gp_trace_destroy(trace_of(text));
	free(text);
}
END_TEST

START_TEST(test_keys_come_in_any_order)
{
	struct gp_trace *one = trace_of(
		"{\"devices\": [{\"device\": 0, \"start\": {\"segments\": ["
		"{\"blocks\": [{\"state\": \"active_allocated\", \"size\": 512,"
		" \"id\": 4}], \"total_size\": 512, \"address\": 4096}]},"
		" \"events\": [{\"site\": 0, \"id\": 4, \"op\": \"free\"}]}],"
		" \"frees\": \"at_once\", \"sites\": [\"f\"],"
		" \"version\": 1, \"format\": \"gpupool-trace\"}");
	const struct gp_event *event = one->devices[0].events;

	ck_assert_uint_eq(event->flags, GP_AT_ONCE);
	ck_assert_uint_eq(event->addr, 4096);
	ck_assert_str_eq(one->texts[one->sites[event->site].text], "f");
	gp_trace_destroy(one);
}
END_TEST

/* However long they are, and in any notation. */
START_TEST(test_keys_that_nobody_knows_are_left_out)
{
	for (int length = 0; length <= 140; length++) {
		static const char *const ends[] = { "", "\\u0061" };

		for (size_t i = 0; i < COUNT_OF(ends); i++) {
			char text[512];
			struct gp_trace *trace;

			snprintf(text, sizeof(text),
				 "{\"%0*d%s\": 7, \"format\": "
				 "\"gpupool-trace\", \"version\": 1, "
				 "\"devices\": [{\"device\": 5}]}",
				 length, 0, ends[i]);
			trace = trace_of(text);
			ck_assert_uint_eq(trace->devices[0].device, 5);
			gp_trace_destroy(trace);
		}
	}
}
END_TEST

/* However much of its block a free tells. */
START_TEST(test_a_free_is_of_its_block)
{
	static const char *const told[] = { "", ", \"size\": 512",
					    ", \"addr\": 4096" };

	for (size_t i = 0; i < COUNT_OF(told); i++) {
		const struct gp_event *event;
		struct gp_trace *trace;
		char text[256];

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": "
				    "512, \"addr\": 4096}, {\"op\": \"free\", "
				    "\"id\": 1%s}"),
			 told[i]);
		trace = trace_of(text);
		event = &trace->devices[0].events[1];
		ck_assert_uint_eq(event->addr, 4096);
		ck_assert_uint_eq(event->size, 512);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_lines_say_the_same)
{
	struct gp_trace *one = trace_of(
		HEADER "\"devices\": [{\"device\": 2, \"events\": ["
		       "{\"op\": \"alloc\", \"id\": 1, \"size\": 2}]},"
		       "{\"device\": 3, \"events\": ["
		       "{\"op\": \"alloc\", \"id\": 1, \"size\": 3}]}]}");
	struct gp_trace *other = trace_of(
		HEADER "\"devices\": [{\"device\": 2}]}\n"
		       "{\"op\": \"alloc\", \"id\": 1, \"size\": 3,"
		       " \"device\": 3}\n"
		       "{\"op\": \"alloc\", \"id\": 1, \"size\": 2}\n");

	ck_assert(gp_trace_equal(one, other));
	gp_trace_destroy(one);
	gp_trace_destroy(other);
}
END_TEST

START_TEST(test_lines_add_to_the_header)
{
	struct gp_trace *one = trace_of(
		HEADER "\"sites\": [\"f\", \"g\", \"h\"],"
		       "\"callers\": [-1, 0, -1],"
		       "\"devices\": [{\"device\": 2, \"memory_stats\": "
		       "{\"num_ooms\": 1, \"max_split_size\": -1},"
		       "\"events\": [{\"op\": \"alloc\", \"id\": 1,"
		       " \"size\": 2, \"site\": 1}]}]}");
	struct gp_trace *other = trace_of(
		HEADER "\"sites\": [\"f\"], \"devices\": [{\"device\": 2}]}\n"
		       "{\"sites\": [\"g\", \"h\"], \"callers\": [0]}\n"
		       "{\"op\": \"alloc\", \"id\": 1, \"size\": 2,"
		       " \"site\": 1}\n"
		       "{\"devices\": [{\"device\": 2, \"memory_stats\": "
		       "{\"num_ooms\": 1, \"max_split_size\": -1}}]}\n");

	ck_assert(gp_trace_equal(one, other));
	ck_assert_uint_eq(one->devices[0].counter_count, 2);
	ck_assert_int_eq(one->devices[0].counters[1].value, -1);
	gp_trace_destroy(one);
	gp_trace_destroy(other);
}
END_TEST

/* Parts that a killed recorder may have written, or a person. */
START_TEST(test_bad_additions_are_explained)
{
	static const struct {
		const char *line, *message;
	} rows[] = {
		{ "{\"sites\": [3]}",
		  "\"sites\" of the list is 3; it must be a text" },
		{ "{\"sites\": [\"f\"], \"callers\": [7]}",
		  "site 7 cannot call site 0" },
		{ "{\"devices\": [{\"device\": -1}]}",
		  "\"device\" of the device is -1; it must be a whole number "
		  "from 0 to 2^64 - 1" },
		{ "{\"devices\": [{\"memory_stats\": {\"num_ooms\": 1}}]}",
		  "the device has no \"device\"" },
		{ "{\"devices\": [{\"device\": 0,"
		  " \"memory_stats\": {\"num_ooms\": 0.5}}]}",
		  "\"num_ooms\" of memory_stats is 0.5; it must be a whole "
		  "number" },
		{ "{\"devices\": [{\"device\": 0, \"memory_stats\": 4}]}",
		  "\"memory_stats\" of the device is 4; it must be an object "
		  "of numbers" },
		{ "{\"color\": 1}", "the event has no \"op\"" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace;
		struct gp_diag diag;
		char text[256];

		snprintf(text, sizeof(text), HEADER "\"devices\": []}\n%s\n",
			 rows[i].line);
		ck_assert_int_eq(try_text(text, &trace, &diag), GP_INPUT);
		ck_assert_str_eq(diag.what, rows[i].message);
	}
}
END_TEST

START_TEST(test_wide_numbers_keep_every_bit)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 9223372036854775807, \"size\": 1,"
		" \"stream\": 18446744073709551615},"
		"{\"op\": \"alloc\", \"id\": 9223372036854775808, \"size\": 1,"
		" \"addr\": 18446744073709551615},"
		"{\"op\": \"alloc\", \"id\": 10000000000000000000,"
		" \"size\": 1}"));
	const struct gp_device_trace *d = &trace->devices[0];

	ck_assert_uint_eq(d->names[0], INT64_MAX);
	ck_assert_uint_eq(d->names[1], (uint64_t)INT64_MAX + 1);
	ck_assert_uint_eq(d->names[2], UINT64_C(10000000000000000000));
	ck_assert_uint_eq(trace->streams[d->events[0].stream], UINT64_MAX);
	ck_assert_uint_eq(d->events[1].addr, UINT64_MAX);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_wider_numbers_are_refused)
{
	ck_assert_str_eq(error_of(ONE_DEVICE("{\"op\": \"alloc\", \"size\": 1,"
					     " \"id\": 18446744073709551616}")),
			 "line 1, byte 79: too big integer near "
			 "'18446744073709551616'");
}
END_TEST

START_TEST(test_the_source_tells_the_release)
{
	struct gp_trace *trace =
		trace_of(HEADER "\"source\": {\"torch\": \"2.9.1+cu128\","
				" \"complete\": true}, \"devices\": []}");

	ck_assert_uint_eq(trace->release.first, 9);
	ck_assert_uint_eq(trace->release.last, 9);
	ck_assert_str_eq(trace->release.why, "its source says torch 2.9");
	ck_assert(trace->is_complete);
	gp_trace_destroy(trace);
	trace = trace_of(HEADER "\"source\": {\"torch\": \"2.255\"}, "
				"\"devices\": []}");
	ck_assert_str_eq(trace->release.why, "its source says torch 2.255");
	gp_trace_destroy(trace);
}
END_TEST

/* If an end of a range is missing, it is the first or the last release. */
START_TEST(test_releases_have_two_ends)
{
	static const struct {
		const char *told;
		unsigned first, last;
	} rows[] = {
		{ "\"first\": 3, \"last\": 5", 3, 5 },
		{ "\"last\": 5", 0, 5 },
		{ "\"first\": 3", 3, GP_RELEASE_LAST },
		{ "\"first\": 0, \"last\": 0", 0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[256];
		struct gp_trace *trace;

		snprintf(text, sizeof(text),
			 HEADER "\"release\": {%s}, \"devices\": []}",
			 rows[i].told);
		trace = trace_of(text);
		ck_assert_uint_eq(trace->release.first, rows[i].first);
		ck_assert_uint_eq(trace->release.last, rows[i].last);
		ck_assert_str_eq(trace->release.why, "the trace says so");
		gp_trace_destroy(trace);
	}
}
END_TEST

/* ---- PyTorch's own format ---- */

#define ENTRY                                                                  \
	"{\"action\": \"alloc\", \"addr\": 4096, \"size\": 500,"               \
	" \"stream\": -8, \"time_us\": 3, \"frames\": ["                       \
	"{\"name\": \"f\", \"filename\": \"a.py\", \"line\": 3},"              \
	"{\"name\": \"main\", \"filename\": \"??\", \"line\": 0}]}"
#define ENTRIES                                                                \
	"{\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 1024,"      \
	" \"stream\": -8, \"time_us\": 2}, " ENTRY
#define SEGMENTS                                                               \
	"[{\"device\": 0, \"address\": 4096, \"total_size\": 1024,"            \
	" \"stream\": -8, \"segment_type\": \"small\","                        \
	" \"segment_pool_id\": [0, 0], \"is_expandable\": false,"              \
	" \"frames\": [], \"blocks\": ["                                       \
	"{\"address\": 4096, \"size\": 512, \"requested_size\": 500,"          \
	" \"state\": \"active_allocated\", \"frames\": []},"                   \
	"{\"address\": 4608, \"size\": 512, \"requested_size\": 0,"            \
	" \"state\": \"inactive\", \"frames\": []}]}]"

START_TEST(test_a_snapshot_in_any_order_is_one)
{
	struct gp_trace *one = trace_of(
		"{\"segments\": " SEGMENTS ", \"device_traces\": [[" ENTRIES
		"], []], \"allocator_settings\": {\"PYTORCH_CUDA_ALLOC_CONF\": "
		"\"max_split_size_mb:32\", \"max_split_size\": 33554432},"
		" \"external_annotations\": []}");
	struct gp_trace *other = trace_of(
		"{\"external_annotations\": [], \"allocator_settings\": {"
		"\"PYTORCH_CUDA_ALLOC_CONF\": \"max_split_size_mb:32\"},"
		" \"something\": [[{}]], \"device_traces\": [[" ENTRIES
		"], []], \"segments\": " SEGMENTS "}");
	const struct gp_device_trace *d = &one->devices[0];

	ck_assert(gp_trace_equal(one, other));
	ck_assert_uint_eq(one->device_count, 1);
	ck_assert_uint_eq(d->end.segment_count, 1);
	ck_assert_uint_eq(one->streams[d->end.segments[0].stream],
			  UINT64_MAX - 7);
	ck_assert_str_eq(one->settings, "max_split_size_mb:32");
	ck_assert_str_eq(one->source, "pytorch-snapshot");
	ck_assert_uint_eq(one->release.first, 5);
	gp_trace_destroy(one);
	gp_trace_destroy(other);
}
END_TEST

START_TEST(test_stacks_are_read_innermost_first)
{
	struct gp_trace *trace =
		trace_of("{\"device_traces\": [[" ENTRIES "]]}");
	const struct gp_device_trace *d = &trace->devices[0];
	const struct gp_site *site =
		&trace->sites[d->events[d->event_count - 1].site];

	ck_assert_str_eq(trace->texts[site->text], "a.py:3 f");
	ck_assert_str_eq(trace->texts[trace->sites[site->caller].text], "main");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_lists_by_themselves_are_traces)
{
	struct gp_trace *whole =
		trace_of("{\"device_traces\": [[" ENTRIES "]]}");
	struct gp_trace *traces = trace_of("[[" ENTRIES "]]");
	struct gp_trace *entries = trace_of("[" ENTRIES "]");
	struct gp_trace *segments = trace_of(SEGMENTS);

	ck_assert(gp_trace_equal(whole, traces));
	ck_assert(gp_trace_equal(whole, entries));
	ck_assert_uint_eq(segments->devices[0].end.block_count, 2);
	gp_trace_destroy(whole);
	gp_trace_destroy(traces);
	gp_trace_destroy(entries);
	gp_trace_destroy(segments);
}
END_TEST

/* If the value is short, the message shows what is wrong. */
START_TEST(test_long_texts_are_not_shown)
{
	for (int length = 40; length < 55; length++) {
		char text[256], shown[64];

		snprintf(shown, sizeof(shown), "\"%0*d\"", length, 0);
		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, "
				    "\"size\": %s}"),
			 shown);
		ck_assert_msg(strstr(error_of(text), strlen(shown) > 47
							     ? "a long text"
							     : shown),
			      "%s", shown);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_bad_events_are_named, 0 },
		{ test_bad_files_are_explained, 0 },
		{ test_depth_is_bounded, 0 },
		{ test_an_item_is_bounded, 0 },
		{ test_keys_come_in_any_order, 0 },
		{ test_keys_that_nobody_knows_are_left_out, 0 },
		{ test_a_free_is_of_its_block, 0 },
		{ test_lines_say_the_same, 0 },
		{ test_lines_add_to_the_header, 0 },
		{ test_bad_additions_are_explained, 0 },
		{ test_wide_numbers_keep_every_bit, 0 },
		{ test_wider_numbers_are_refused, 0 },
		{ test_the_source_tells_the_release, 0 },
		{ test_releases_have_two_ends, 0 },
		{ test_a_snapshot_in_any_order_is_one, 0 },
		{ test_stacks_are_read_innermost_first, 0 },
		{ test_lists_by_themselves_are_traces, 0 },
		{ test_long_texts_are_not_shown, 0 },
	};

	return suite_run("json", tests, COUNT_OF(tests));
}
