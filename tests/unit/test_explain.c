/* SPDX-License-Identifier: MIT */
/* Why memory is reserved but not allocated: the parts, and what pins it. */
#include "study/metrics/explain.h"

#include <glob.h>

#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

struct run {
	struct gp_settings settings;
	struct gp_replay_config config;
};

static void run_init(struct run *run, const struct gp_trace *trace,
		     uint32_t device, uint64_t capacity)
{
	gp_settings_init(&run->settings, GP_RELEASE_LAST);
	run->config = (struct gp_replay_config){
		.trace = trace,
		.device = device,
		.settings = &run->settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = capacity,
	};
}

static struct gp_explain explain_of(const struct gp_trace *trace,
				    uint64_t capacity)
{
	struct run run;
	struct gp_explain_config config = { .run = &run.config };
	struct gp_explain explain;
	struct gp_diag diag = { 0 };

	run_init(&run, trace, 0, capacity);
	ck_assert_int_eq(gp_explain(&config, &explain, &diag), GP_OK);
	return explain;
}

/* ---- tiny traces with one cause each ---- */

/* 20 MiB in four blocks, of which only the second is live; then more is
 * requested. */
#define HELD_BY_ONE                                                            \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 5242880},"                   \
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 5242880},"                   \
	"{\"op\": \"alloc\", \"id\": 3, \"size\": 5242880},"                   \
	"{\"op\": \"alloc\", \"id\": 4, \"size\": 5242880},"                   \
	"{\"op\": \"free\", \"id\": 1},"                                       \
	"{\"op\": \"free\", \"id\": 3},"                                       \
	"{\"op\": \"free\", \"id\": 4}"

START_TEST(one_block_holds_a_segment)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		HELD_BY_ONE
		",{\"op\": \"alloc\", \"id\": 5, \"size\": 15728640}"));
	struct gp_explain e = explain_of(trace, 24 * MIB);

	ck_assert(!e.failures[0].is_too_small);
	ck_assert_uint_eq(e.event, 7);
	ck_assert_uint_eq(e.gap.bytes, 15 * MIB);
	ck_assert_uint_eq(e.gap.by_reason[GP_GAP_HELD].bytes, 15 * MIB);
	ck_assert_uint_eq(e.pins.unit_count, 1);
	ck_assert_uint_eq(e.pins.holder_count, 1);
	ck_assert_uint_eq(e.pins.holders[0].id, 1);
	ck_assert_uint_eq(e.pins.holders[0].share, 15 * MIB);
	ck_assert_uint_eq(e.now.list[0].events, 6);
	ck_assert_uint_eq(e.relief.segments, 1);
	ck_assert_uint_eq(e.relief.bytes, 5 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(too_little_memory_is_not_fragmentation)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
			   "{\"op\": \"alloc\", \"id\": 2, "
			   "\"size\": 20971520}"));
	struct gp_explain e = explain_of(trace, 30 * MIB);

	ck_assert(e.failures[0].is_too_small);
	ck_assert_uint_eq(e.failures[0].needed, 40 * MIB);
	ck_assert_uint_eq(e.failures[0].available, 30 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(another_streams_memory_is_told_from_its_own)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 5242880},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 5242880},"
			   "{\"op\": \"free\", \"id\": 1},"
			   "{\"op\": \"alloc\", \"id\": 3, "
			   "\"size\": 9437184, \"stream\": 7}"));
	struct gp_explain e = explain_of(trace, 24 * MIB);

	ck_assert(!e.failures[0].is_too_small);
	ck_assert_uint_eq(e.result.first_oom.free_other_stream, 15 * MIB);
	ck_assert_uint_eq(e.result.first_oom.free_its_own, 0);
	ck_assert_str_eq(e.attempts[0].name, "all work on one stream");
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* 10 MiB are free in large blocks, 1 MiB in small ones. */
START_TEST(small_blocks_are_told_from_large_ones)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 10485760},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 10485760},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 1048576},"
		"{\"op\": \"alloc\", \"id\": 4, \"size\": 1572864},"
		"{\"op\": \"alloc\", \"id\": 5, \"size\": 1048576},"
		"{\"op\": \"alloc\", \"id\": 6, \"size\": 1048576}"));
	struct gp_explain e = explain_of(trace, 42 * MIB);
	const struct gp_oom *oom = &e.result.first_oom;

	ck_assert_uint_eq(oom->event, 5);
	ck_assert(oom->route.is_small);
	ck_assert_uint_eq(oom->free_its_own, 0);
	ck_assert_uint_eq(oom->largest_free, 0);
	ck_assert_uint_eq(oom->free_other_pool, 18 * MIB + MIB / 2);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* Requests do not name the pool; they are routed to it. */
START_TEST(a_routed_request_has_its_pools_memory)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 5242880},"
		"{\"op\": \"pool_begin\", \"pool\": [0, 1]},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 10485760},"
		"{\"op\": \"free\", \"id\": 2},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 12582912}"));
	struct gp_explain e = explain_of(trace, 32 * MIB);
	const struct gp_oom *oom = &e.result.first_oom;

	ck_assert_uint_eq(oom->event, 4);
	ck_assert_uint_eq(oom->route.pool, 1);
	ck_assert_uint_eq(oom->largest_free, 10 * MIB);
	ck_assert_uint_eq(oom->free_other_pool, 15 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(memory_that_waits_is_counted_with_its_time)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 7},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520},"
		"{\"op\": \"synchronize\"},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 4}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.failure_count, 0);
	ck_assert_uint_eq(e.waiting.frees, 1);
	ck_assert_uint_eq(e.waiting.peak, 20 * MIB);
	ck_assert(e.waiting.byte_events == 3 * 20.0 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(memory_that_waits_to_the_end_is_counted)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 7},"
		"{\"op\": \"free\", \"id\": 1}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.waiting.frees, 1);
	ck_assert_uint_eq(e.waiting.peak, 20 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* 10 MiB are pending free, and so their page of 20 cannot be released; the
 * others can. */
START_TEST(pages_beside_a_block_that_waits_are_cached)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 10485760},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 62914560},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 7},"
		"{\"op\":\"free\",\"id\":1},{\"op\":\"free\",\"id\":2},"
		"{\"op\":\"alloc\",\"id\":3,\"size\":20971520,\"stream\":7}"));
	struct run run;
	struct gp_explain_config config = { .run = &run.config };
	struct gp_explain e;
	struct gp_diag diag = { 0 };

	run_init(&run, trace, 0, GP_UNLIMITED);
	run.settings.expandable_segments = true;
	ck_assert_int_eq(gp_explain(&config, &e, &diag), GP_OK);
	ck_assert_uint_eq(e.gap.by_reason[GP_GAP_WAITING].bytes, 20 * MIB);
	ck_assert_uint_eq(e.gap.by_reason[GP_GAP_CACHED].bytes, 60 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(an_emptied_cache_that_is_asked_for_again_is_paid_again)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"empty_cache\"},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.empty_caches.count, 1);
	ck_assert_uint_eq(e.empty_caches.bytes, 20 * MIB);
	ck_assert_uint_eq(e.empty_caches.paid_again, 20 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* No more than was released. */
START_TEST(what_is_asked_for_beyond_an_emptied_cache_is_new)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 41943040},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"empty_cache\"},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 31457280},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520},"
		"{\"op\": \"alloc\", \"id\": 4, \"size\": 20971520}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.empty_caches.bytes, 40 * MIB);
	ck_assert_uint_eq(e.empty_caches.paid_again, 40 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_a_block_pins_is_summed_over_its_life)
{
	struct gp_trace *trace =
		trace_of(ONE_DEVICE(HELD_BY_ONE ",{\"op\": \"free\", "
						"\"id\": 2}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);
	double sum = 0;

	for (size_t i = 0; i < e.over_time.count; i++)
		sum += e.over_time.list[i].byte_events;
	/* Free bytes after each event but the last: 15, 10, 5, 0, 5, 10, 15
	 * MiB. */
	ck_assert(sum > 59.9 * MIB && sum < 60.1 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* Site 1, and one byte without a site. */
START_TEST(what_has_no_site_is_of_none)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"a.py:1 f\", \"b.py:1 g\"], \"devices\": [{\"device\": 0, "
		"\"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 5, \"site\": 1},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 1}]}]}");
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.over_time.count, 2);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* A block that is still pending free at the end, and one whose request
 * failed. */
START_TEST(what_waits_at_the_end_pins_until_it_was_freed)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 5242880},"
		"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 7},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 104857600},"
		"{\"op\": \"free\", \"id\": 1},"
		"{\"op\": \"mark\", \"name\": \"end\"}"));
	struct gp_explain e = explain_of(trace, 24 * MIB);

	ck_assert_uint_eq(e.over_time.count, 1);
	ck_assert_uint_eq(e.over_time.list[0].events, 3);
	/* For three events, 15 MiB are free beside it. */
	ck_assert_double_eq(e.over_time.list[0].byte_events, 45. * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

#define STEP(id)                                                               \
	"{\"op\": \"mark\", \"name\": \"step " #id "\"},"                      \
	"{\"op\": \"alloc\", \"id\": " #id ", \"size\": 20971520}"
#define HELD(addr, id)                                                         \
	"{\"address\": " #addr ", \"total_size\": 20971520, "                  \
	"\"segment_type\": \"large\", \"blocks\": [{\"size\": 20971520, "      \
	"\"state\": \"active_allocated\", \"id\": " #id "}]}"

START_TEST(what_a_window_begins_with_is_older_than_its_events)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"start\": {\"segments\": [" HELD(
			4194304,
			1) "]}, \"events\": [" STEP(2) "," STEP(3) "]}]}");
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.live.count, 1);
	ck_assert(e.live.list[0].from_start);
	ck_assert_uint_eq(e.live.list[0].events, e.event + 1);
	ck_assert_uint_eq(e.over_time.list[0].events, 4);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* The second page has 1 MiB and 512 bytes of it, all but 1,024 of them free. */
START_TEST(a_page_is_no_larger_than_its_range)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": "
		"4194304, \"total_size\": 3146240, \"segment_type\": "
		"\"small\", "
		"\"is_expandable\": true, \"blocks\": [{\"size\": 2097152, "
		"\"state\": \"inactive\"}, {\"size\": 1024, \"state\": "
		"\"active_allocated\", \"id\": 1}, {\"size\": 1048064, "
		"\"state\": \"inactive\"}]}]}, \"events\": [" STEP(2) "]}]}");
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.pins.unit_count, 1);
	ck_assert_uint_eq(e.pins.units[0].size, 1049088);
	ck_assert_uint_eq(e.pins.units[0].free, 1048064);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(steps_count_what_a_window_begins_with)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"start\": {\"segments\": [" HELD(
			4194304,
			7) "," HELD(67108864,
				    8) "]}, "
				       "\"events\": [" STEP(1) "," STEP(
					       2) "," STEP(3) "]}]}");
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.steps.count, 3);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(e.steps.list[i].reserved, (i + 3) * 20 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* Before the first step, the peak was higher than in it. */
START_TEST(a_step_has_what_there_is_when_it_begins)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
			   "{\"op\": \"mark\", \"name\": \"step\"},"
			   "{\"op\": \"free\", \"id\": 1},"
			   "{\"op\": \"mark\", \"name\": \"step\"},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 1024},"
			   "{\"op\": \"mark\", \"name\": \"step\"},"
			   "{\"op\": \"free\", \"id\": 2}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_uint_eq(e.steps.count, 3);
	ck_assert_uint_eq(e.steps.list[0].allocated, 20 * MIB);
	ck_assert_uint_eq(e.steps.list[0].live_at_end, 0);
	ck_assert_uint_eq(e.steps.list[1].allocated, 1024);
	ck_assert_uint_eq(e.steps.list[2].allocated, 1024);
	ck_assert_uint_eq(e.steps.list[1].gap, 22 * MIB - 1024);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(steps_are_found_by_marks_and_their_growth_is_told)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"mark\", \"name\": \"step 1\"},"
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
		"{\"op\": \"mark\", \"name\": \"step 2\"},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520},"
		"{\"op\": \"mark\", \"name\": \"step 3\"},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520}"));
	struct gp_explain e = explain_of(trace, GP_UNLIMITED);

	ck_assert_int_eq(e.steps.source, GP_STEPS_MARKS);
	ck_assert_str_eq(e.steps.name, "step");
	ck_assert_uint_eq(e.steps.count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(e.steps.list[i].first, 2 * i);
		ck_assert_uint_eq(e.steps.list[i].reserved, (i + 1) * 20 * MIB);
		ck_assert_uint_eq(e.steps.list[i].live_at_end,
				  (i + 1) * 20 * MIB);
	}
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

#define N35 "a name of five and thirty characters"
START_TEST(steps_have_the_beginning_of_a_long_name)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"mark\", \"name\": \"" N35 N35 " 1\"},"
			   "{\"op\": \"mark\", \"name\": \"" N35 N35 " 2\"},"
			   "{\"op\": \"mark\", \"name\": \"" N35 N35 " 3\"}"));
	struct gp_steps steps;

	gp_steps_find(trace, 0, &steps);
	ck_assert_int_eq(steps.source, GP_STEPS_MARKS);
	ck_assert_uint_eq(strlen(steps.name), 63);
	free(steps.list);
	gp_trace_destroy(trace);
}
END_TEST

static struct gp_steps steps_of_period(int requests, int times)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct gp_trace *trace;
	struct gp_steps steps;

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (int i = 0; i < requests * times; i++)
		fprintf(out,
			"%s{\"op\": \"alloc\", \"id\": %d, \"size\": %d},"
			"{\"op\": \"free\", \"id\": %d}",
			i ? "," : "", i,
			512 * (1 + i % requests * (i % requests)), i);
	fputs("]}]}", out);
	fclose(out);
	trace = trace_of(text);
	gp_steps_find(trace, 0, &steps);
	free(text);
	gp_trace_destroy(trace);
	return steps;
}

START_TEST(steps_are_found_by_the_period_of_requests)
{
	struct gp_steps steps = steps_of_period(40, 8);

	ck_assert_int_eq(steps.source, GP_STEPS_PERIOD);
	ck_assert_uint_eq(steps.count, 8);
	ck_assert_uint_eq(steps.list[1].first - steps.list[0].first, 80);
	free(steps.list);
	/* Fewer than three are no steps. */
	steps = steps_of_period(70, 3);
	ck_assert_uint_eq(steps.count, 3);
	free(steps.list);
	ck_assert_uint_eq(steps_of_period(70, 2).count, 0);
}
END_TEST

/* ---- every trace in the repository ---- */

static uint64_t sum_of(const struct gp_gap_part *parts, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += parts[i].bytes;
	return sum;
}

static uint64_t requested_of_pending(const struct gp_state *state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_PENDING_FREE)
			sum += state->blocks[i].requested;
	return sum;
}

static void check_sums(const struct gp_explain *e)
{
	const struct gp_gap *gap = &e->gap;
	uint64_t held = 0, shares = 0, now = 0;

	ck_assert_uint_eq(gap->bytes, gap->reserved - gap->allocated);
	ck_assert_uint_eq(sum_of(gap->by_reason, GP_GAP_REASONS), gap->bytes);
	ck_assert_uint_eq(sum_of(gap->by_class, GP_SIZE_CLASSES), gap->bytes);
	ck_assert_uint_eq(sum_of(gap->by_stream, e->trace->stream_count),
			  gap->bytes);
	ck_assert_uint_eq(sum_of(gap->by_pool, e->trace->pool_count),
			  gap->bytes);
	ck_assert_uint_eq(gap->small.bytes + gap->large.bytes, gap->bytes);
	ck_assert_uint_eq(gap->requested + gap->rounding + gap->unsplit,
			  gap->allocated + requested_of_pending(&e->state));
	for (size_t i = 0; i < e->pins.unit_count; i++)
		held += e->pins.units[i].free;
	for (size_t i = 0; i < e->pins.holder_count; i++)
		shares += e->pins.holders[i].share;
	for (size_t i = 0; i < e->now.count; i++)
		now += e->now.list[i].bytes;
	ck_assert_uint_eq(held, gap->by_reason[GP_GAP_HELD].bytes);
	ck_assert_uint_eq(shares, held);
	ck_assert_uint_eq(now, held);
}

/*
 * Which blocks are dropped at the moment, and whether a unit still exists after
 * the cache is emptied.
 */
enum dropped { DROP_NAMED, DROP_ALL_NAMED_BUT_ONE, DROP_UNNAMED };
struct dropping {
	const struct gp_explain *explain;
	const struct gp_unit *unit;
	enum dropped dropped;
	bool is_there;
};

static bool is_named(const struct dropping *d, uint32_t id, uint32_t from)
{
	for (uint32_t k = from; k < d->unit->holders; k++)
		if (d->explain->pins.holders[d->unit->first_holder + k].id ==
		    id)
			return true;
	return false;
}

static bool is_dropped(const struct dropping *d, uint32_t id)
{
	switch (d->dropped) {
	case DROP_NAMED: return is_named(d, id, 0);
	case DROP_ALL_NAMED_BUT_ONE: return is_named(d, id, 1);
	default: return !is_named(d, id, 0);
	}
}

static bool has_unit(const struct gp_state *state, const struct gp_unit *unit)
{
	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];

		if (unit->addr >= s->addr && unit->addr < s->addr + s->size)
			return true;
	}
	return false;
}

static void drop(void *arg, struct gp_allocator *a, uint64_t event)
{
	struct dropping *d = arg;
	const struct gp_state *before = &d->explain->state;
	struct gp_state after;

	(void)event;
	for (size_t i = 0; i < before->block_count; i++) {
		uint32_t id = before->blocks[i].id;

		if (before->blocks[i].state == GP_INACTIVE ||
		    !is_dropped(d, id))
			continue;
		a->ops->free(a, id);
		a->ops->complete(a, id);
	}
	a->ops->synchronize(a, GP_ALL_STREAMS);
	a->ops->empty_cache(a, 0);
	a->ops->state(a, &after);
	d->is_there = has_unit(&after, d->unit);
	gp_state_release(&after);
}

static bool is_there_without(const struct gp_explain *e,
			     const struct gp_replay_config *config,
			     const struct gp_unit *unit, enum dropped dropped)
{
	struct dropping d = { e, unit, dropped, false };
	struct gp_replay_config run = *config;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	run.look = drop;
	run.look_arg = &d;
	run.looks = &e->event;
	run.look_count = 1;
	ck_assert_int_eq(gp_replay(&run, &result, &diag), GP_OK);
	gp_replay_release(&result);
	return d.is_there;
}

/* A private pool keeps its segments, and a capture keeps the caches. */
static bool is_only_held_by_blocks(const struct gp_explain *e,
				   const struct gp_unit *unit)
{
	const struct gp_device_trace *device = &e->trace->devices[e->device];
	int captures = 0;

	for (size_t i = 0; i <= e->event && i < device->event_count; i++) {
		captures += device->events[i].kind == GP_CAPTURE_BEGIN;
		captures -= device->events[i].kind == GP_CAPTURE_END;
	}
	return !captures && !e->state.segments[unit->segment].pool;
}

#define UNITS_CHECKED 24 /* those of a trace with the most free bytes */

static size_t check_pins(const struct gp_explain *e,
			 const struct gp_replay_config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < e->pins.unit_count && n < UNITS_CHECKED; i++) {
		const struct gp_unit *unit = &e->pins.units[i];

		if (!is_only_held_by_blocks(e, unit))
			continue;
		ck_assert(!is_there_without(e, config, unit, DROP_NAMED));
		ck_assert(is_there_without(e, config, unit,
					   DROP_ALL_NAMED_BUT_ONE));
		ck_assert(is_there_without(e, config, unit, DROP_UNNAMED));
		n++;
	}
	return n;
}

static size_t check_run(const struct gp_trace *trace, uint32_t device,
			uint64_t capacity, bool expandable)
{
	struct run run;
	struct gp_explain_config config = { .run = &run.config,
					    .skip_attempts = true };
	struct gp_explain e;
	struct gp_diag diag = { 0 };
	size_t units;

	run_init(&run, trace, device, capacity);
	run.settings.expandable_segments = expandable;
	ck_assert_int_eq(gp_explain(&config, &e, &diag), GP_OK);
	check_sums(&e);
	units = trace->devices[device].event_count ? check_pins(&e, &run.config)
						   : 0;
	gp_explain_release(&e);
	return units;
}

/* At the peak, and with four fifths of that memory; with both kinds of
 * segments. */
static size_t check_trace(const struct gp_trace *trace)
{
	size_t units = 0;

	for (uint32_t d = 0; d < trace->device_count; d++) {
		struct gp_replay_result result;
		struct gp_diag diag = { 0 };
		struct run run;
		uint64_t less;

		run_init(&run, trace, d, GP_UNLIMITED);
		ck_assert_int_eq(gp_replay(&run.config, &result, &diag), GP_OK);
		less = result.at_peak.reserved / 5 * 4;
		gp_replay_release(&result);
		for (int expandable = 0; expandable < 2; expandable++) {
			units += check_run(trace, d, GP_UNLIMITED, expandable);
			units += check_run(trace, d, less, expandable);
		}
	}
	return units;
}

static void check_all(const char *pattern, const char *name)
{
	glob_t found;
	size_t units = 0;

	if (glob(pattern, 0, NULL, &found))
		skip_test(name, "no such traces on this machine");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct gp_trace *trace = trace_at(found.gl_pathv[i]);

		if (trace)
			units += check_trace(trace);
		gp_trace_destroy(trace);
	}
	printf("%s: %zu traces, %zu held segments\n", name, found.gl_pathc,
	       units);
	globfree(&found);
}

START_TEST(bundled_traces_add_up_and_their_pins_hold)
{
	check_all("traces/tiny/*.json*", "tiny");
	check_all("traces/recorded/*.gz", "recorded");
}
END_TEST

START_TEST(stories_add_up_and_their_pins_hold)
{
	check_all("traces/stories/*.json*", "stories");
}
END_TEST

START_TEST(recordings_add_up_and_their_pins_hold)
{
	check_all("../shared/recorded/*.pickle", "shared/recorded");
	check_all("../shared/snapshots/*.pickle", "shared/snapshots");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ one_block_holds_a_segment, 0 },
		{ too_little_memory_is_not_fragmentation, 0 },
		{ another_streams_memory_is_told_from_its_own, 0 },
		{ small_blocks_are_told_from_large_ones, 0 },
		{ a_routed_request_has_its_pools_memory, 0 },
		{ memory_that_waits_is_counted_with_its_time, 0 },
		{ memory_that_waits_to_the_end_is_counted, 0 },
		{ pages_beside_a_block_that_waits_are_cached, 0 },
		{ an_emptied_cache_that_is_asked_for_again_is_paid_again, 0 },
		{ what_is_asked_for_beyond_an_emptied_cache_is_new, 0 },
		{ what_a_block_pins_is_summed_over_its_life, 0 },
		{ what_has_no_site_is_of_none, 0 },
		{ what_waits_at_the_end_pins_until_it_was_freed, 0 },
		{ what_a_window_begins_with_is_older_than_its_events, 0 },
		{ a_page_is_no_larger_than_its_range, 0 },
		{ steps_count_what_a_window_begins_with, 0 },
		{ a_step_has_what_there_is_when_it_begins, 0 },
		{ steps_are_found_by_marks_and_their_growth_is_told, 0 },
		{ steps_have_the_beginning_of_a_long_name, 0 },
		{ steps_are_found_by_the_period_of_requests, 0 },
		{ bundled_traces_add_up_and_their_pins_hold, 0 },
		{ stories_add_up_and_their_pins_hold, 0 },
		{ recordings_add_up_and_their_pins_hold, 0 },
	};

	return suite_run("explain", tests, COUNT_OF(tests));
}
