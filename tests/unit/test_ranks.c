/* SPDX-License-Identifier: MIT */
/* Ranks: which traces form one class, and that the traces of a class replay
 * alike. */
#include "trace/ranks.h"

#include <stddef.h>
#include <stdlib.h>

#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define TRACE(head, start, events)                                             \
	"{\"format\": \"gpupool-trace\", \"version\": 1, " head                \
	"\"devices\": [{" start " \"events\": [" events "]}]}"

#define WINDOW(at, block)                                                      \
	"\"device\": 0, \"start\": {\"segments\": [{\"address\": " at          \
	", \"total_size\": 20971520, \"segment_type\": \"large\", "            \
	"\"blocks\": [{\"size\": 10485760, \"state\": \"inactive\"},"          \
	"{\"size\": " block ", \"id\": 1, \"state\": "                         \
	"\"active_allocated\"},{\"size\": 8388608, \"state\": \"inactive\"}"   \
	"]}]},"

static const char one[] = TRACE(
	"", "\"device\": 0,",
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": 5,"
	" \"time\": 10, \"addr\": 140000000000000},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	"{\"op\": \"free\", \"id\": 1}");

#define OF_POOL(pool)                                                          \
	TRACE("", "\"device\": 0,",                                            \
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"pool\": [" pool \
	      "]}")

static bool alike(const char *left, const char *right)
{
	struct gp_trace *a = trace_of(left), *b = trace_of(right);
	bool is_alike = gp_trace_alike(a, b);

	ck_assert_int_eq(is_alike, gp_trace_alike(b, a));
	ck_assert_int_eq(is_alike, gp_trace_print(a) == gp_trace_print(b));
	if (is_alike)
		ck_assert_uint_eq(peak_of(a), peak_of(b));
	gp_trace_destroy(a);
	gp_trace_destroy(b);
	return is_alike;
}

START_TEST(test_what_no_replay_reads_makes_no_difference)
{
	ck_assert(alike(one, one));
	/* Another device, other handles (1 is cudaStreamLegacy), names, times
	 * and addresses. */
	ck_assert(alike(
		one,
		TRACE("", "\"device\": 3,",
		      "{\"op\": \"alloc\", \"id\": 77, \"size\": 20971520,"
		      " \"stream\": 1, \"time\": 99, \"addr\": 7000000000},"
		      "{\"op\": \"alloc\", \"id\": 8, \"size\": 4194304},"
		      "{\"op\": \"free\", \"id\": 77}")));
	/* The pools of captures are numbered throughout a process. */
	ck_assert(alike(OF_POOL("1, 0"), OF_POOL("2, 0")));
	ck_assert(alike(OF_POOL("0, 1"), OF_POOL("0, 2")));
	ck_assert(!alike(OF_POOL("0, 1"), OF_POOL("1, 0")));
}
END_TEST

/* Events that have no address have another value in its place. */
START_TEST(test_fractions_and_what_was_free_make_a_difference)
{
#define SETS(fraction)                                                         \
	TRACE("", "\"device\": 0,",                                            \
	      "{\"op\": \"set_memory_fraction\", \"fraction\": " fraction "}")
#define FAILS(free)                                                            \
	TRACE("", "\"device\": 0,",                                            \
	      "{\"op\": \"oom\", \"size\": 512, \"device_free\": " free "}")
	ck_assert(alike(SETS("0.5"), SETS("0.5")));
	ck_assert(!alike(SETS("0.5"), SETS("0.25")));
	ck_assert(alike(FAILS("7"), FAILS("7")));
	ck_assert(!alike(FAILS("7"), FAILS("8")));
}
END_TEST

static const char *const others[] = {
	/* a size */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971008, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* the block that is freed */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 2}"),
	/* the order */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* the stream: here it is the default one */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* a pool */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5, \"pool\": [0, 1]},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* one request less */
	TRACE("", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304}"),
	/* the device's memory */
	TRACE("", "\"device\": 0, \"total_memory\": 1073741824,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* the program that wrote it, which determines the defaults */
	TRACE("\"source\": {\"kind\": \"gpupool-gen\"}, ", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
	/* the settings */
	TRACE("\"settings\": \"expandable_segments:True\", ", "\"device\": 0,",
	      "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"stream\": "
	      "5},"
	      "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
	      "{\"op\": \"free\", \"id\": 1}"),
};

START_TEST(test_whatever_a_replay_reads_makes_another_class)
{
	for (size_t i = 0; i < COUNT_OF(others); i++)
		ck_assert_msg(!alike(one, others[i]), "%zu", i);
}
END_TEST

/* It is not known on which stream such a block is used. */
START_TEST(test_an_unknown_stream_is_alike)
{
	static const char text[] =
		TRACE("", "\"device\": 0,",
		      "{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
		      "{\"op\": \"record_stream\", \"id\": 1},"
		      "{\"op\": \"free\", \"id\": 1}");

	ck_assert(alike(text, text));
	ck_assert(!alike(text,
			 TRACE("", "\"device\": 0,",
			       "{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
			       "{\"op\": \"record_stream\", \"id\": 1, "
			       "\"stream\": 5},"
			       "{\"op\": \"free\", \"id\": 1}")));
}
END_TEST

#define LARGE "{\"op\": \"alloc\", \"id\": 2, \"size\": 9437184}"

START_TEST(test_the_memory_at_the_start_may_lie_elsewhere)
{
	static const char high[] =
		TRACE("", WINDOW("140000000901120", "2097152"), LARGE);
	static const char low[] =
		TRACE("", WINDOW("4194304", "2097152"), LARGE);

	ck_assert(alike(
		high, TRACE("", WINDOW("140500004225024", "2097152"), LARGE)));
	/* An address that counts differs from none. */
	ck_assert(!alike(TRACE("", WINDOW("140000000901120", "2097152"),
			       "{\"op\": \"alloc\", \"id\": 2, \"size\": 512}"),
			 TRACE("", WINDOW("140000000901120", "2097152"),
			       "{\"op\": \"alloc\", \"id\": 2, \"size\": 512, "
			       "\"addr\": 140000000901120}")));
	/* Segments at 2^46 and above. */
	ck_assert(alike(high,
			TRACE("", WINDOW("70368744177664", "2097152"), LARGE)));
	ck_assert(!alike(
		high, TRACE("", WINDOW("70368742080512", "2097152"), LARGE)));
	/* Segments among the simulated device's own addresses. */
	ck_assert(!alike(low, TRACE("", WINDOW("8388608", "2097152"), LARGE)));
	ck_assert(!alike(high, low));
	ck_assert(!alike(high, one));
}
END_TEST

/* Addresses count from the first to the last byte of the memory at the
 * start. */
START_TEST(test_addresses_count_where_memory_was)
{
	static const char form[] =
		TRACE("", WINDOW("140000000901120", "2097152"),
		      "{\"op\": \"alloc\", \"id\": 2, \"size\": 512, "
		      "\"addr\": %llu}");
	static const struct {
		unsigned long long addr;
		bool counts;
	} rows[] = {
		{ 140000000901119, false }, { 140000000901120, true },
		{ 140000000901121, true },  { 140000021872639, true },
		{ 140000021872640, false },
	};
	char none[1024], text[1024];

	snprintf(none, sizeof(none), form, 0ULL);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(text, sizeof(text), form, rows[i].addr);
		ck_assert_msg(alike(none, text) != rows[i].counts, "%zu", i);
	}
}
END_TEST

/* Neither recorded outcomes nor marks are requests. */
START_TEST(test_requests_are_those_of_the_program)
{
	for (int kind = 0; kind < GP_EVENT_KINDS; kind++) {
		const struct gp_event event = { .kind = (uint8_t)kind };
		const struct gp_device_trace devices[] = {
			{ .event_count = 0 },
			{ .events = &event, .event_count = 1 },
		};
		const struct gp_trace trace = { .devices = devices,
						.device_count = 2 };

		ck_assert_msg(
			gp_trace_has_requests(&trace) ==
				(kind < GP_FIRST_OUTCOME && kind != GP_MARK),
			"%s", gp_event_kind_name(kind));
	}
	ck_assert(!gp_trace_has_requests(&(struct gp_trace){ 0 }));
}
END_TEST

/* ---- each member of a trace, increased by one ---- */

struct copy {
	struct gp_trace trace;
	struct gp_device_trace device;
	struct gp_segment segment;
	struct gp_block blocks[3];
	struct gp_event events[4]; /* alloc, mark, synchronize, alloc */
};

static const char whole[] = TRACE(
	"", WINDOW("4194304", "2097152"),
	LARGE
	", {\"op\": \"mark\", \"name\": \"a\"},"
	"{\"op\": \"synchronize\", \"stream\": 7},"
	"{\"op\": \"alloc\", \"id\": 3, \"size\": 512, \"pool\": [0, 1]}");

static const struct gp_trace *copy_init(struct copy *c,
					const struct gp_trace *from)
{
	const struct gp_device_trace *d = from->devices;

	c->trace = *from;
	c->device = *d;
	c->segment = d->start.segments[0];
	memcpy(c->blocks, d->start.blocks, sizeof(c->blocks));
	memcpy(c->events, d->events, sizeof(c->events));
	c->trace.devices = &c->device;
	c->device.start.segments = &c->segment;
	c->device.start.blocks = c->blocks;
	c->device.events = c->events;
	return &c->trace;
}

/* A member, and whether a replay reads it. */
#define MEMBER(member, is_read)                                                \
	{                                                                      \
#member, offsetof(struct copy, member), is_read                \
	}

static const struct member {
	const char *name;
	size_t at;
	bool is_read;
} members[] = {
	MEMBER(trace.release.first, true), MEMBER(trace.release.last, true),
	MEMBER(trace.is_complete, true),   MEMBER(device.total_memory, true),
	MEMBER(device.block_ids, true),	   MEMBER(device.device, true),
	MEMBER(segment.addr, true),	   MEMBER(segment.size, true),
	MEMBER(segment.stream, true),	   MEMBER(segment.pool, true),
	MEMBER(segment.is_small, true),	   MEMBER(segment.is_expandable, true),
	MEMBER(segment.first_block, true), MEMBER(segment.blocks, true),
	MEMBER(segment.offset, true),	   MEMBER(segment.site, false),
	MEMBER(blocks[1].addr, true),	   MEMBER(blocks[1].size, true),
	MEMBER(blocks[1].requested, true), MEMBER(blocks[1].id, true),
	MEMBER(blocks[1].state, true),	   MEMBER(blocks[1].site, false),
	MEMBER(events[0].kind, true),	   MEMBER(events[0].flags, true),
	MEMBER(events[0].size, true),	   MEMBER(events[0].id, true),
	MEMBER(events[0].stream, true),	   MEMBER(events[0].pool, true),
	MEMBER(events[0].addr, false),	   MEMBER(events[0].time_us, false),
	MEMBER(events[0].site, false),	   MEMBER(events[1].mark, true),
	MEMBER(events[1].text, false),	   MEMBER(events[2].stream, true),
};

START_TEST(test_each_member_that_a_replay_reads_makes_another_class)
{
	struct gp_trace *trace = trace_of(whole);
	uint64_t print = gp_trace_print(trace);

	for (size_t i = 0; i < COUNT_OF(members); i++) {
		const struct member *m = &members[i];
		struct copy copy;
		const struct gp_trace *other = copy_init(&copy, trace);

		((unsigned char *)&copy)[m->at] ^= 1;
		ck_assert_msg(gp_trace_alike(trace, other) != m->is_read, "%s",
			      m->name);
		ck_assert_msg((gp_trace_print(other) == print) != m->is_read,
			      "%s", m->name);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* In a buffer of exactly this size, so that a sanitizer sees reads beyond
 * it. */
START_TEST(test_a_start_may_have_more_blocks_than_there_are_events)
{
	struct gp_trace *trace =
		trace_of(TRACE("", WINDOW("4194304", "2097152"), LARGE));
	struct gp_device_trace device = trace->devices[0];
	struct gp_event *event = malloc(sizeof(*event));
	struct gp_trace other = *trace;

	ck_assert_uint_eq(device.event_count, 1);
	*event = device.events[0];
	device.events = event;
	other.devices = &device;
	ck_assert(gp_trace_alike(&other, trace));
	gp_trace_destroy(trace);
	free(event);
}
END_TEST

static void count_files(bool drops)
{
	struct gp_ranks ranks = { 0 };

	gp_ranks_add(&ranks, "a", trace_of(others[0]));
	gp_ranks_add(&ranks, "b", trace_of(one));
	for (size_t i = 0; drops && i < ranks.count; i++)
		gp_rank_class_drop(&ranks.classes[i]);
	gp_ranks_add(&ranks, "c", trace_of(one));
	gp_ranks_add(&ranks, "d", trace_of(others[1]));
	gp_ranks_sort(&ranks);
	ck_assert_uint_eq(ranks.files, 4);
	ck_assert_uint_eq(ranks.count, 3);
	ck_assert_uint_eq(ranks.classes[0].count, 2);
	ck_assert_str_eq(ranks.classes[0].paths[0], "b");
	ck_assert_str_eq(ranks.classes[0].paths[1], "c");
	ck_assert_str_eq(ranks.classes[1].paths[0], "a");
	ck_assert_str_eq(ranks.classes[2].paths[0], "d");
	/* Used by others[0] once, by one twice, by others[1] once. */
	ck_assert_uint_eq(ranks.used_by[0], 4);
	gp_ranks_release(&ranks);
	ck_assert_ptr_null(ranks.classes);
}

START_TEST(test_classes_count_their_files)
{
	count_files(false);
}
END_TEST

START_TEST(test_classes_know_a_trace_that_they_dropped)
{
	count_files(true);
}
END_TEST

/* The one of most files, not the first by name. */
START_TEST(test_the_release_of_most_files_leads)
{
	char confs[3][32] = { "", "", "expandable_segments:True" };
	struct gp_rank_class classes[] = {
		{ .count = 2, .release = 9, .conf = confs[0] },
		{ .count = 2, .release = 10, .conf = confs[1] },
		{ .count = 1, .release = 10, .conf = confs[2] },
	};
	struct gp_ranks ranks = { .classes = classes, .count = 3, .files = 5 };

	ck_assert_uint_eq(gp_ranks_lead(&ranks), 1); /* the newer one */
	classes[0].count = 3;
	ck_assert_uint_eq(gp_ranks_lead(&ranks), 0);
	classes[2].count = 4;
	ck_assert_uint_eq(gp_ranks_lead(&ranks), 2);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_no_replay_reads_makes_no_difference, 0 },
		{ test_fractions_and_what_was_free_make_a_difference, 0 },
		{ test_whatever_a_replay_reads_makes_another_class, 0 },
		{ test_an_unknown_stream_is_alike, 0 },
		{ test_the_memory_at_the_start_may_lie_elsewhere, 0 },
		{ test_addresses_count_where_memory_was, 0 },
		{ test_requests_are_those_of_the_program, 0 },
		{ test_each_member_that_a_replay_reads_makes_another_class, 0 },
		{ test_a_start_may_have_more_blocks_than_there_are_events, 0 },
		{ test_classes_count_their_files, 0 },
		{ test_classes_know_a_trace_that_they_dropped, 0 },
		{ test_the_release_of_most_files_leads, 0 },
	};

	return suite_run("ranks", tests, COUNT_OF(tests));
}
