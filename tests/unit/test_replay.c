/* SPDX-License-Identifier: MIT */
/* Replays: verification, what-ifs, and what is recorded during a run. */
#include "gpupool/replay.h"

#include <stdlib.h>

#include "played.h"
#include "suite.h"
#include "trace_text.h"

static struct gp_replay_result replay(const struct gp_trace *trace,
				      enum gp_replay_mode mode,
				      uint64_t capacity)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);

	config.mode = mode;
	config.capacity = capacity;
	config.keep_peak = true;
	return played(&config);
}

static const char *const recorded =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	"[{\"device\": 0, \"events\": ["
	"{\"op\": \"segment_alloc\", \"addr\": 2097152, \"size\": 2097152},"
	"{\"op\": \"alloc\", \"id\": 1, \"addr\": 2097152, \"size\": 4},"
	"{\"op\": \"alloc\", \"id\": 2, \"addr\": %s, \"size\": 4}]}]}";

static struct gp_trace *with_second_at(const char *addr)
{
	char text[1024];

	snprintf(text, sizeof(text), recorded, addr);
	return trace_of(text);
}

START_TEST(a_verification_counts_what_it_chose_the_same)
{
	struct gp_trace *trace = with_second_at("2097664");
	struct gp_replay_result result = replay(trace, GP_VERIFY, GP_UNLIMITED);

	ck_assert_uint_eq(result.fidelity.checked, 2);
	ck_assert_uint_eq(result.fidelity.matched, 2);
	ck_assert_uint_eq(result.fidelity.segments_matched, 1);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* PyTorch reserves addresses before it asks for memory, and keeps them. */
static const char *const refused_first =
	"{\"format\": \"gpupool-trace\", \"version\": 1, "
	"\"settings\": \"expandable_segments:True\", "
	"\"devices\": [{\"device\": 0, \"events\": ["
	"{\"op\": \"oom\", \"size\": 4294967296, \"device_free\": 2097152, "
	"\"stream\": 7},"
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 4294967296, \"stream\": 7, "
	"\"refused\": true},"
	"{\"op\": \"segment_map\", \"addr\": 70368744177664, "
	"\"size\": 2097152, \"stream\": 7},"
	"{\"op\": \"alloc\", \"id\": 2, \"addr\": 70368744177664, "
	"\"size\": 4, \"stream\": 7},"
	"{\"op\": \"segment_map\", \"addr\": 72567767433216, "
	"\"size\": 20971520, \"stream\": 8},"
	"{\"op\": \"alloc\", \"id\": 3, \"addr\": 72567767433216, "
	"\"size\": 4194304, \"stream\": 8},"
	"{\"op\": \"segment_map\", \"addr\": 74766790688768, "
	"\"size\": 20971520, \"stream\": 7},"
	"{\"op\": \"alloc\", \"id\": 4, \"addr\": 74766790688768, "
	"\"size\": 4194304, \"stream\": 7}]}]}";

/* The three blocks and their segments get the recorded addresses. */
static void check_all_matched(const char *text)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_replay_config config = { .trace = trace, .mode = GP_VERIFY };
	struct gp_replay_result result = played(&config);

	ck_assert_uint_eq(result.fidelity.checked, 3);
	ck_assert_uint_eq(result.fidelity.matched, 3);
	ck_assert_uint_eq(result.fidelity.segments_matched, 3);
	ck_assert_uint_eq(result.fidelity.segments_checked, 3);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}

START_TEST(addresses_that_a_refused_request_reserved_are_used_later)
{
	check_all_matched(refused_first);
}
END_TEST

/* Neither of two refused requests fits into the reservation of the other (up to
 * 2.14). The third gets the lowest address, the others the pages after it. */
static const char refused_twice[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"release\": "
	"{\"first\": 14, \"last\": 14}, \"settings\": "
	"\"expandable_segments:True\", \"devices\": [{\"device\": 0, "
	"\"total_memory\": 134217728, \"events\": ["
	"{\"op\": \"oom\", \"size\": 209715200, \"device_free\": 134217728},"
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 209715200, "
	"\"refused\": true},"
	"{\"op\": \"oom\", \"size\": 251658240, \"device_free\": 134217728},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 251658240, "
	"\"refused\": true},"
	"{\"op\": \"segment_map\", \"addr\": 70368744177664, "
	"\"size\": 20971520},"
	"{\"op\": \"alloc\", \"id\": 3, \"addr\": 70368744177664, "
	"\"size\": 2097152},"
	"{\"op\": \"segment_map\", \"addr\": 70368765149184, "
	"\"size\": 20971520},"
	"{\"op\": \"alloc\", \"id\": 4, \"addr\": 70368746274816, "
	"\"size\": 20971520},"
	"{\"op\": \"segment_map\", \"addr\": 70368786120704, "
	"\"size\": 20971520},"
	"{\"op\": \"alloc\", \"id\": 5, \"addr\": 70368767246336, "
	"\"size\": 20971520}]}]}";

START_TEST(each_refused_request_reserves_addresses_of_its_own)
{
	check_all_matched(refused_twice);
}
END_TEST

/* A request that fits neither a cached block nor the unmapped rest of the first
 * reservation (180 MiB for a device of 160) gets its own reservation, which
 * begins where that ends. */
static const char adjacent[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\": "
	"\"expandable_segments:True\", \"devices\": [{\"device\": 0, "
	"\"total_memory\": 167772160, \"events\": ["
	"{\"op\": \"segment_map\", \"addr\": 70368744177664, "
	"\"size\": 62914560},"
	"{\"op\": \"alloc\", \"id\": 1, \"addr\": 70368744177664, "
	"\"size\": 62914560},"
	"{\"op\": \"segment_map\", \"addr\": 70368807092224, "
	"\"size\": 62914560},"
	"{\"op\": \"alloc\", \"id\": 2, \"addr\": 70368807092224, "
	"\"size\": 62914560},"
	"{\"op\": \"free\", \"id\": 1},"
	"{\"op\": \"segment_unmap\", \"addr\": 70368744177664, "
	"\"size\": 62914560},"
	"{\"op\": \"segment_map\", \"addr\": 70368932921344, "
	"\"size\": 83886080},"
	"{\"op\": \"alloc\", \"id\": 3, \"addr\": 70368932921344, "
	"\"size\": 83886080}]}]}";

START_TEST(a_reservation_may_begin_where_another_ends)
{
	check_all_matched(adjacent);
}
END_TEST

START_TEST(a_device_that_the_trace_does_not_have)
{
	struct gp_trace *trace =
		trace_of("{\"format\": \"gpupool-trace\", \"version\": 1, "
			 "\"devices\": []}");
	struct gp_replay_config config = { .trace = trace };
	struct gp_replay_result result = { .requests = 1 };
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_USAGE);
	ck_assert_str_eq(diag.what, "the trace has no device of index 0");
	ck_assert_uint_eq(result.requests, 0);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(the_first_mismatch_names_both_and_the_candidates)
{
	struct gp_trace *trace = with_second_at("2098176");
	struct gp_replay_result result = replay(trace, GP_VERIFY, GP_UNLIMITED);
	const struct gp_mismatch *first = &result.fidelity.first;

	ck_assert(first->is_there);
	ck_assert_int_eq(first->kind, GP_WRONG_ADDRESS);
	ck_assert_uint_eq(first->event, 2);
	ck_assert_uint_eq(first->chosen, 2097664);
	ck_assert_uint_eq(first->recorded, 2098176);
	ck_assert_uint_eq(first->candidate_count, 1);
	ck_assert_uint_eq(first->candidates[0].addr, 2097664);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* While a capture is open, no CUDA event is processed; for the request, a block
 * that an event still holds is free all the same. */
START_TEST(a_candidate_is_free_for_that_request)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, "
		"\"devices\": [{\"device\": 0, \"events\": ["
		"{\"op\": \"segment_alloc\", \"addr\": 2097152, "
		"\"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 1, \"addr\": 2097152, "
		"\"size\": 3145728},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 16},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"synchronize\", \"stream\": 16},"
		"{\"op\": \"capture_begin\", \"pool\": [0, 2], "
		"\"stream\": 32},"
		"{\"op\": \"alloc\", \"id\": 2, \"addr\": 2097152, "
		"\"size\": 3145728}]}]}");
	struct gp_replay_result result = replay(trace, GP_VERIFY, GP_UNLIMITED);
	const struct gp_mismatch *first = &result.fidelity.first;

	ck_assert_uint_eq(first->event, 6);
	ck_assert_uint_eq(first->chosen, 5242880);
	ck_assert_uint_eq(first->candidate_count, 1);
	ck_assert_uint_eq(first->candidates[0].addr, 5242880);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_what_if_does_not_look_at_what_was_recorded)
{
	struct gp_trace *trace = with_second_at("2098176");
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(result.fidelity.checked, 0);
	ck_assert_uint_eq(result.at_end.reserved, 2097152);
	ck_assert_uint_eq(result.end.blocks[1].addr, 2097664);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* A window with a segment of 2 MiB and three requests of 20 MiB, each of which
 * needs a segment of its own. */
static struct gp_trace *window_at(uint64_t addr, const char *outcome)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"format\": \"gpupool-trace\", \"version\": 1, "
		 "\"devices\": [{\"device\": 0, \"start\": {\"segments\": "
		 "[{\"address\": %llu, \"total_size\": 2097152, "
		 "\"segment_type\": \"small\", \"blocks\": "
		 "[{\"size\": 2097152, \"state\": \"active_allocated\", "
		 "\"id\": 9}]}]}, \"events\": [%s"
		 "{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		 "{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520},"
		 "{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520}]}]}",
		 (unsigned long long)addr, outcome);
	return trace_of(text);
}

/* Compares the ids of the blocks in order of address. */
static void check_order(uint64_t addr, const char *outcome, const char *order)
{
	struct gp_trace *trace = window_at(addr, outcome);
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);
	char ids[8] = "";

	ck_assert_uint_eq(result.end.block_count, 4);
	for (size_t i = 0; i < result.end.block_count; i++) {
		const struct gp_block *b = &result.end.blocks[i];

		ids[i] = "0123456789"[b->id];
		if (i)
			ck_assert_uint_ge(b->addr, b[-1].addr + b[-1].size);
	}
	ck_assert_str_eq(ids, order);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}

/* Ids are in file order; 0 is the block of the start state. */
START_TEST(a_what_if_has_new_memory_from_the_end_that_was_recorded)
{
	check_order(0x7f4e80000000, "", "3210"); /* Linux */
	check_order(0x728606000000, "", "3210"); /* with more random bits */
	check_order(0x700000000000, "", "0123"); /* simulated */
	check_order(0x70ff00000000, "", "3210"); /* simulated, downward */
	/* Linux, in the same range, at its middle and its ends. */
	check_order(0x701400000000, "", "3210");
	check_order(0x700140000000, "", "3210");
	check_order(0x70fff0000000, "", "3210");
	check_order(0x703a00000, "", "0123"); /* Windows */
}
END_TEST

START_TEST(a_what_if_has_new_memory_where_it_was_recorded)
{
	static const char above[] =
		"{\"op\": \"segment_alloc\", \"addr\": 139974000000000, "
		"\"size\": 20971520},";
	static const char elsewhere[] =
		"{\"op\": \"segment_alloc\", \"addr\": 139974000000000, "
		"\"size\": 12582912},";
	static const char taken[] =
		"{\"op\": \"segment_alloc\", \"addr\": 139975179665408, "
		"\"size\": 20971520},";

	check_order(139973000000000 / 2097152 * 2097152, above, "3201");
	check_order(139973000000000 / 2097152 * 2097152, elsewhere, "3210");
	check_order(139975179665408, taken, "3210");
}
END_TEST

/* Expandable segments, enabled at first, are where the simulated device has
 * them. A segment that was recorded there gets another place. */
START_TEST(a_what_if_has_no_memory_twice)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\": "
		"\"expandable_segments:True\", \"devices\": [{\"device\": 0, "
		"\"start\": {\"segments\": [{\"address\": 132001394851840, "
		"\"total_size\": 2097152, \"segment_type\": \"small\", "
		"\"blocks\": [{\"size\": 2097152, "
		"\"state\": \"active_allocated\", \"id\": 9}]}]}, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		"{\"op\": \"set_allocator_settings\", "
		"\"conf\": \"expandable_segments:False\"},"
		"{\"op\": \"segment_alloc\", \"addr\": 132001396948992, "
		"\"size\": 52428800},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 52428800}]}]}");
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;

	settings.expandable_segments = true;
	result = played(&config);
	ck_assert_uint_eq(result.end.block_count, 3);
	for (size_t i = 1; i < result.end.block_count; i++) {
		const struct gp_block *b = &result.end.blocks[i];

		ck_assert_uint_ge(b->addr, b[-1].addr + b[-1].size);
	}
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* On Linux, a segment in CUDA's own range is not among the others, which begin
 * at 2^46 or above. */
START_TEST(a_what_if_looks_where_most_of_the_recording_is)
{
	static const char format[] =
		"{\"format\": \"gpupool-trace\", \"version\": 1, "
		"\"devices\": [{\"device\": 0, \"start\": {\"segments\": ["
		"{\"address\": 12918456320, \"total_size\": 2097152, "
		"\"segment_type\": \"small\", \"blocks\": [{\"size\": 2097152, "
		"\"state\": \"active_allocated\", \"id\": 8}]}, "
		"{\"address\": %llu, \"total_size\": 2097152, "
		"\"segment_type\": \"small\", \"blocks\": [{\"size\": 2097152, "
		"\"state\": \"active_allocated\", \"id\": 9}]}]}, "
		"\"events\": [{\"op\": \"segment_alloc\", \"addr\": "
		"%llu, \"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520}]}]}";
	static const unsigned long long addrs[][2] = {
		{ 139975179665408, 139974000000000 },
		{ UINT64_C(1) << 46, (UINT64_C(1) << 46) + 20971520 },
	};

	for (size_t i = 0; i < COUNT_OF(addrs); i++) {
		char text[1024];
		struct gp_trace *trace;
		struct gp_replay_result result;
		bool is_there = false;

		snprintf(text, sizeof(text), format, addrs[i][0], addrs[i][1]);
		trace = trace_of(text);
		result = replay(trace, GP_WHAT_IF, GP_UNLIMITED);
		ck_assert_uint_eq(result.end.block_count, 3);
		for (size_t k = 0; k < 3; k++)
			is_there |= result.end.blocks[k].addr == addrs[i][1];
		ck_assert(is_there);
		gp_replay_release(&result);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* The whole trace of a GPU whose memory the system placed in the range of the
 * simulated device. */
START_TEST(a_what_if_tells_the_range_of_a_gpu_from_its_own)
{
	static const char format[] =
		"{\"format\": \"gpupool-trace\", \"version\": 1, "
		"\"devices\": [{\"device\": 0, \"events\": ["
		"{\"op\": \"segment_alloc\", \"addr\": %llu, "
		"\"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 1, \"addr\": %llu, "
		"\"size\": 20971520}]}]}";
	static const unsigned long long addrs[] = {
		0x701400000000, 0x70a000000000, 0x700002000000, 0x70fff0000000
	};

	for (size_t i = 0; i < COUNT_OF(addrs); i++) {
		char text[512];
		struct gp_trace *trace;
		struct gp_replay_result result;

		snprintf(text, sizeof(text), format, addrs[i], addrs[i]);
		trace = trace_of(text);
		result = replay(trace, GP_WHAT_IF, GP_UNLIMITED);
		ck_assert_uint_eq(result.end.block_count, 1);
		ck_assert_uint_eq(result.end.blocks[0].addr, addrs[i]);
		gp_replay_release(&result);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* 5 MiB in the middle of a segment of 20 MiB are in use: 15 MiB are free, but
 * cannot serve a request for 15. */
START_TEST(an_oom_says_whether_it_was_fragmentation)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 5242880},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 5242880},"
			   "{\"op\": \"free\", \"id\": 1},"
			   "{\"op\": \"alloc\", \"id\": 3, \"size\": "
			   "15728640}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, UINT64_C(20) << 20);

	ck_assert(result.first_oom.is_there);
	ck_assert_uint_eq(result.first_oom.alloc, 3);
	ck_assert_uint_eq(result.first_oom.free_bytes, 15728640);
	ck_assert_uint_eq(result.first_oom.largest_free, 10485760);
	ck_assert_int_eq(result.first_oom.cause, GP_CAUSE_FRAGMENTATION);
	ck_assert_uint_eq(result.dropped, 1);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(an_oom_of_more_than_there_is_is_capacity)
{
	struct gp_replay_config config;
	struct gp_settings settings;
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 52428800}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, UINT64_C(20) << 20);

	ck_assert_int_eq(result.first_oom.cause, GP_CAUSE_CAPACITY);
	ck_assert_uint_eq(result.first_oom.limit, GP_UNLIMITED);
	gp_replay_release(&result);
	/* In no release is there a limit unless somebody set one. */
	config = run_of(trace, &settings);
	config.capacity = UINT64_C(20) << 20;
	gp_settings_init(&settings, 0);
	result = played(&config);
	ck_assert_uint_eq(result.first_oom.limit, GP_UNLIMITED);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

#define MAPPED(addr, id)                                                       \
	"{\"address\": " addr ", \"total_size\": 20971520, "                   \
	"\"segment_type\": \"large\", \"is_expandable\": true, \"blocks\": ["  \
	"{\"size\": 20971520, \"state\": \"active_allocated\", \"id\": " #id   \
	"}]}"

/* Two more requests of 20 MiB, in a trace that begins with those segments. */
#define TWO_MORE_FROM(segments)                                                \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\": "       \
	"\"expandable_segments:True\", \"devices\": [{\"device\": 0, "         \
	"\"start\": {\"segments\": [" segments "]}, \"events\": ["             \
	"{\"op\": \"alloc\", \"id\": 4, \"size\": 20971520}, "                 \
	"{\"op\": \"alloc\", \"id\": 5, \"size\": 20971520}]}]}"

static void check_segments(const char *text, const uint64_t *mib, size_t count)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_replay_config config = { .trace = trace, .mode = GP_WHAT_IF };
	struct gp_replay_result result = played(&config);

	ck_assert_uint_eq(result.end.segment_count, count);
	ck_assert_uint_eq(result.end.segments[0].addr,
			  UINT64_C(131941395333120));
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(result.end.segments[i].size, mib[i] << 20);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}

/* At the start, a reservation is mapped in three places; requests that fit
 * between two of them are mapped there. */
START_TEST(what_is_not_mapped_at_the_start_is_mapped_later)
{
	check_segments(TWO_MORE_FROM(MAPPED("131941395333120", 1) ", " MAPPED(
			       "131941437276160",
			       2) ", " MAPPED("131941479219200", 3)),
		       (const uint64_t[]){ 100 }, 1);
}
END_TEST

#define ON_7(addr)                                                             \
	"{\"address\": " addr ", \"total_size\": 20971520, \"stream\": 7, "    \
	"\"segment_type\": \"large\", \"is_expandable\": true, \"blocks\": ["  \
	"{\"size\": 20971520, \"state\": \"active_allocated\", \"id\": 9}]}"

/* A reservation of another stream begins 40 MiB after this one. */
START_TEST(a_reservation_at_the_start_ends_before_the_next)
{
	check_segments(TWO_MORE_FROM(MAPPED("131941395333120",
					    1) ", " ON_7("131941437276160")),
		       (const uint64_t[]){ 40, 20, 20 }, 3);
}
END_TEST

START_TEST(an_oom_says_what_a_segment_reserves)
{
	static const struct {
		const char *conf;
		uint64_t reserve;
	} rows[] = {
		{ "", GP_UNLIMITED },
		{ "expandable_segments_reserve:0.5", UINT64_C(10) << 20 },
		{ "expandable_segments_reserve:40G", UINT64_C(40) << 30 },
	};
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 52428800}"));

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_replay_config config = {
			.trace = trace,
			.mode = GP_WHAT_IF,
			.conf = rows[i].conf,
			.capacity = UINT64_C(20) << 20,
		};
		struct gp_replay_result result = played(&config);

		ck_assert_uint_eq(result.first_oom.reserve, rows[i].reserve);
		gp_replay_release(&result);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* On a device of 1 GiB, with 20 MiB reserved when the limit is set. */
START_TEST(a_limit_leaves_the_room_above_what_is_reserved)
{
	static const struct {
		const char *fraction;
		uint64_t room_mib;
	} rows[] = { { "0.03125", 12 },
		     { "0.01953125", 0 },
		     { "0.0078125", 0 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_replay_result result;
		struct gp_trace *trace;
		char text[512];

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": "
				    "20971520}, {\"op\": "
				    "\"set_memory_fraction\", \"fraction\": "
				    "%s}, {\"op\": \"alloc\", \"id\": 2, "
				    "\"size\": 20971520}"),
			 rows[i].fraction);
		trace = trace_of(text);
		result = replay(trace, GP_WHAT_IF, UINT64_C(1) << 30);
		ck_assert(result.first_oom.is_there);
		ck_assert_uint_eq(result.first_oom.room,
				  rows[i].room_mib << 20);
		gp_replay_release(&result);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(the_peak_is_the_first_moment_of_the_most_reserved)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 4},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 5242880},"
			   "{\"op\": \"free\", \"id\": 2},"
			   "{\"op\": \"empty_cache\"},"
			   "{\"op\": \"alloc\", \"id\": 3, \"size\": 4}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(result.at_peak.event, 1);
	ck_assert_uint_eq(result.at_peak.reserved, 23068672);
	ck_assert_uint_eq(result.at_end.reserved, 2097152);
	ck_assert_uint_eq(result.timeline.bins, 5);
	ck_assert_uint_eq(result.timeline.reserved[2], 23068672);
	ck_assert_uint_eq(result.timeline.reserved[3], 2097152);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* The bytes of a state's segments, and of its active blocks. */
static uint64_t reserved_in(const struct gp_state *state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < state->segment_count; i++)
		sum += state->segments[i].size;
	return sum;
}

static uint64_t allocated_in(const struct gp_state *state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_ACTIVE)
			sum += state->blocks[i].size;
	return sum;
}

START_TEST(memory_at_the_peak_is_kept)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
			   "{\"op\": \"free\", \"id\": 2},"
			   "{\"op\": \"empty_cache\"}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(reserved_in(&result.peak), result.at_peak.reserved);
	ck_assert_uint_eq(allocated_in(&result.peak), 4194816);
	ck_assert_uint_eq(result.at_fullest.event, 1);
	ck_assert(!result.peak_is_from_start);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* A window of a run that had already reserved its peak. */
START_TEST(the_peak_is_kept_where_most_is_allocated)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": "
		"4194304, \"total_size\": 20971520, \"segment_type\": "
		"\"large\", \"blocks\": [{\"size\": 20971520, \"state\": "
		"\"inactive\"}]}]}, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 4194304},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304},"
		"{\"op\": \"free\", \"id\": 2}]}]}");
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(result.at_peak.allocated, 0);
	ck_assert(result.peak_is_from_start);
	ck_assert_uint_eq(result.at_fullest.event, 1);
	ck_assert_uint_eq(allocated_in(&result.peak), 8388608);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_capture_that_depends_on_its_graph_is_refused)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"set_allocator_settings\", \"conf\": "
			   "\"graph_capture_record_stream_reuse:True\"},"
			   "{\"op\": \"capture_begin\", \"pool\": [1, 0]}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(result.refused, 1);
	ck_assert_ptr_nonnull(strstr(result.first_refusal,
				     "graph_capture_record_stream_reuse"));
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* Three pages are mapped in one call. Two of them, not adjacent, cannot be
 * released in two: PyTorch counts the calls, and its assertion fails each time.
 */
START_TEST(a_pools_pages_go_back_in_no_more_calls_than_they_came)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"set_allocator_settings\", \"conf\": "
		"\"expandable_segments:True\"},"
		"{\"op\": \"pool_begin\", \"pool\": [0, 1]},"
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 62914560},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 4, \"size\": 20971520},"
		"{\"op\": \"pool_end\", \"pool\": [0, 1]},"
		"{\"op\": \"pool_release\", \"pool\": [0, 1]},"
		"{\"op\": \"free\", \"id\": 2}, {\"op\": \"free\", \"id\": 4},"
		"{\"op\": \"empty_cache\", \"pool\": [0, 1]},"
		"{\"op\": \"empty_cache\", \"pool\": [0, 1]}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, GP_UNLIMITED);

	ck_assert_uint_eq(result.refused, 2);
	ck_assert_uint_eq(result.first_refusal_event, 11);
	ck_assert_ptr_nonnull(
		strstr(result.first_refusal, "cudaMalloc_count > 0"));
	ck_assert_uint_eq(result.calls.unmap, 1);
	ck_assert_uint_eq(result.at_end.reserved, 2 * 20971520);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* In the past, the next request released the default pool's segments to make
 * room. */
START_TEST(an_emptied_pool_does_not_release_what_others_hold)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"segment_alloc\", \"size\": 20971520, \"addr\": "
		"67108864},"
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"addr\": "
		"67108864},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"empty_cache\", \"pool\": [0, 1]},"
		"{\"op\": \"segment_free\", \"size\": 20971520, \"addr\": "
		"67108864},"
		"{\"op\": \"segment_alloc\", \"size\": 31457280, \"addr\": "
		"134217728},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 31457280, \"addr\": "
		"134217728}"));
	struct gp_replay_result result = replay(trace, GP_VERIFY, 41943040);

	ck_assert_uint_eq(result.stats.num_alloc_retries, 1);
	ck_assert_uint_eq(result.at_peak.reserved, 31457280);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_a_config_leaves_out_is_as_it_was_recorded)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\":"
		" \"roundup_power2_divisions:4\", \"devices\": [{\"device\": 0,"
		" \"total_memory\": 20971520, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 17000000},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 4}]}]}");
	const struct gp_replay_config config = { .trace = trace,
						 .mode = GP_WHAT_IF };
	struct gp_replay_result result = played(&config);

	ck_assert_uint_eq(result.at_peak.allocated, 20971520);
	ck_assert_uint_eq(result.first_oom.event, 1);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_conf_that_is_not_understood_leaves_nothing)
{
	struct gp_trace *trace = with_second_at("2097664");
	const struct gp_replay_config config = { .trace = trace,
						 .conf = "no_such:1" };
	static const struct gp_replay_result nothing;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_INPUT);
	ck_assert_str_ne(diag.what, "");
	ck_assert_mem_eq(&result.stats, &nothing.stats, sizeof(result.stats));
	ck_assert_ptr_null(result.end.segments);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- an engine with only the mandatory functions ---- */

static struct gp_allocator_ops least_ops;

static enum gp_status create_least(const struct gp_allocator_config *config,
				   struct gp_allocator **allocator,
				   struct gp_diag *diag)
{
	const struct gp_allocator_ops *all;

	gp_engine_find("direct")->create(config, allocator, diag);
	all = (*allocator)->ops;
	least_ops = (struct gp_allocator_ops){
		.name = "least",
		.alloc = all->alloc,
		.free = all->free,
		.stats = all->stats,
		.state = all->state,
		.destroy = all->destroy,
	};
	(*allocator)->ops = &least_ops;
	return GP_OK;
}

START_TEST(what_an_engine_leaves_out_means_nothing_to_it)
{
	static const struct gp_engine least = { .name = "least",
						.sentence = "",
						.create = create_least };
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 4096, \"stream\": 0},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 7},"
		"{\"op\": \"synchronize\"},"
		"{\"op\": \"synchronize\", \"stream\": 7},"
		"{\"op\": \"synchronize\", \"stream\": 7, \"by\": 0},"
		"{\"op\": \"empty_cache\"},"
		"{\"op\": \"set_memory_fraction\", \"fraction\": 0.5},"
		"{\"op\": \"set_allocator_settings\", \"conf\": \"\"},"
		"{\"op\": \"pool_begin\", \"pool\": [1, 0]},"
		"{\"op\": \"pool_end\", \"pool\": [1, 0]},"
		"{\"op\": \"pool_release\", \"pool\": [1, 0]},"
		"{\"op\": \"pool_no_split\", \"pool\": [1, 0]},"
		"{\"op\": \"capture_begin\", \"pool\": [2, 0], \"stream\": 7},"
		"{\"op\": \"capture_end\", \"pool\": [2, 0]},"
		"{\"op\": \"reset_peak_stats\"},"
		"{\"op\": \"reset_accumulated_stats\"},"
		"{\"op\": \"free\", \"id\": 1}"));
	const struct gp_replay_config config = { .trace = trace,
						 .engine = &least,
						 .mode = GP_WHAT_IF,
						 .keep_peak = true };
	struct gp_replay_result result = played(&config);

	ck_assert_uint_eq(result.at_peak.reserved, 4096);
	ck_assert_uint_eq(result.at_end.reserved, 0);
	ck_assert_uint_eq(result.refused, 0);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- an engine without largest_free ---- */

static const struct gp_allocator_ops *whole_ops;

/* Adds a segment beyond segment_count, which must not be read. */
static void state_and_more(struct gp_allocator *allocator,
			   struct gp_state *state)
{
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t n, k;

	whole_ops->state(allocator, state);
	n = state->segment_count;
	k = state->block_count;
	segments = realloc((void *)(uintptr_t)state->segments,
			   (n + 1) * sizeof(*segments));
	blocks = realloc((void *)(uintptr_t)state->blocks,
			 (k + 1) * sizeof(*blocks));
	segments[n] =
		(struct gp_segment){ .first_block = (uint32_t)k, .blocks = 1 };
	blocks[k] = (struct gp_block){ .size = UINT64_C(1) << 40,
				       .state = GP_INACTIVE };
	state->segments = segments;
	state->blocks = blocks;
}

static enum gp_status create_silent(const struct gp_allocator_config *config,
				    struct gp_allocator **allocator,
				    struct gp_diag *diag)
{
	enum gp_status status =
		gp_engine_find("caching")->create(config, allocator, diag);

	whole_ops = (*allocator)->ops;
	least_ops = *whole_ops;
	least_ops.largest_free = NULL;
	least_ops.state = state_and_more;
	(*allocator)->ops = &least_ops;
	return status;
}

/* Of 20 MiB, 5 are in use, and of 30 MiB, 20; then nothing is free, and then
 * only the first segment. */
START_TEST(the_largest_free_block_is_looked_for)
{
	static const struct gp_engine silent = { .name = "silent",
						 .sentence = "",
						 .create = create_silent };
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 31457280},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 5242880},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520}"));
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;

	config.engine = &silent;
	result = played(&config);
	ck_assert_uint_eq(result.at_end.largest_free, 15 << 20);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
	trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 31457280},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520},"
			   "{\"op\": \"free\", \"id\": 1}"));
	config.trace = trace;
	result = played(&config);
	ck_assert_uint_eq(result.at_peak.largest_free, 0);
	ck_assert_uint_eq(result.at_end.largest_free, 30 << 20);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- what is recorded of a run ---- */

START_TEST(the_first_that_others_had_no_room_for_is_kept)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"other_memory\", \"bytes\": 536870912},"
			   "{\"op\": \"other_memory\", \"bytes\": 1610612736},"
			   "{\"op\": \"other_memory\", \"bytes\": 2147483648},"
			   "{\"op\": \"other_memory\", \"bytes\": 0}"));
	struct gp_replay_result result =
		replay(trace, GP_WHAT_IF, UINT64_C(1) << 30);

	ck_assert_uint_eq(result.others.event, 1);
	ck_assert_uint_eq(result.others.missing, 536870912);
	ck_assert(!gp_replay_has_room(&result));
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(the_most_that_was_allocated_is_of_all_bins)
{
	static struct gp_replay_result result;

	result.timeline.bins = GP_BINS;
	for (int i = 0; i < GP_BINS; i++)
		result.timeline.active[i] = 9;
	ck_assert_uint_eq(gp_replay_peak_allocated(&result), 0);
	result.timeline.allocated[0] = 3;
	ck_assert_uint_eq(gp_replay_peak_allocated(&result), 3);
	result.timeline.allocated[GP_BINS - 1] = 5;
	ck_assert_uint_eq(gp_replay_peak_allocated(&result), 5);
	result.at_end.allocated = 7;
	ck_assert_uint_eq(gp_replay_peak_allocated(&result), 7);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_verification_counts_what_it_chose_the_same, 0 },
		{ addresses_that_a_refused_request_reserved_are_used_later, 0 },
		{ each_refused_request_reserves_addresses_of_its_own, 0 },
		{ a_reservation_may_begin_where_another_ends, 0 },
		{ a_device_that_the_trace_does_not_have, 0 },
		{ the_first_mismatch_names_both_and_the_candidates, 0 },
		{ a_candidate_is_free_for_that_request, 0 },
		{ a_what_if_has_new_memory_from_the_end_that_was_recorded, 0 },
		{ a_what_if_has_new_memory_where_it_was_recorded, 0 },
		{ a_what_if_has_no_memory_twice, 0 },
		{ a_what_if_looks_where_most_of_the_recording_is, 0 },
		{ a_what_if_tells_the_range_of_a_gpu_from_its_own, 0 },
		{ a_what_if_does_not_look_at_what_was_recorded, 0 },
		{ an_oom_says_whether_it_was_fragmentation, 0 },
		{ an_oom_of_more_than_there_is_is_capacity, 0 },
		{ what_is_not_mapped_at_the_start_is_mapped_later, 0 },
		{ a_reservation_at_the_start_ends_before_the_next, 0 },
		{ an_oom_says_what_a_segment_reserves, 0 },
		{ a_limit_leaves_the_room_above_what_is_reserved, 0 },
		{ the_peak_is_the_first_moment_of_the_most_reserved, 0 },
		{ memory_at_the_peak_is_kept, 0 },
		{ the_peak_is_kept_where_most_is_allocated, 0 },
		{ a_capture_that_depends_on_its_graph_is_refused, 0 },
		{ a_pools_pages_go_back_in_no_more_calls_than_they_came, 0 },
		{ an_emptied_pool_does_not_release_what_others_hold, 0 },
		{ what_a_config_leaves_out_is_as_it_was_recorded, 0 },
		{ a_conf_that_is_not_understood_leaves_nothing, 0 },
		{ what_an_engine_leaves_out_means_nothing_to_it, 0 },
		{ the_largest_free_block_is_looked_for, 0 },
		{ the_first_that_others_had_no_room_for_is_kept, 0 },
		{ the_most_that_was_allocated_is_of_all_bins, 0 },
	};

	return suite_run("replay", tests, COUNT_OF(tests));
}
