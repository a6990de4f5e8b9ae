/* SPDX-License-Identifier: MIT */
/* The search for the smallest device, compared with replays at every
 * capacity. */
#include "study/headroom.h"
#include "gpupool/study.h"

#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

#define MIB   (UINT64_C(1) << 20)
#define GRAIN GP_DEVICE_GRAIN

/* Random allocs and frees of 1 to 48 MiB from a seed: on one stream, on four,
 * or on one per block, so that nothing is shared. If the seed is odd, other
 * processes use memory now and then. */
static struct gp_trace *made_up(unsigned seed)
{
	static const char *const head =
		"{\"format\":\"gpupool-trace\",\"version\":1,"
		"\"devices\":[{\"device\":0}]}\n";
	static const unsigned streams_of[] = { 4, 1, 12 };
	unsigned streams = streams_of[seed % COUNT_OF(streams_of)];
	bool has_others = seed % 2;
	bool live[12] = { false };
	char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fputs(head, out);
	for (unsigned i = 0; i < 120; i++) {
		unsigned id;

		seed = seed * 1664525 + 1013904223;
		id = (seed >> 16) % COUNT_OF(live);
		if (has_others && i % 16 == 7)
			fprintf(out,
				"{\"op\":\"other_memory\",\"bytes\":%llu}\n",
				(unsigned long long)((seed >> 8) % 96 * MIB));
		fprintf(out, "{\"op\":\"%s\",\"id\":%u",
			live[id] ? "free" : "alloc", id);
		if (!live[id])
			fprintf(out, ",\"size\":%llu,\"stream\":%u",
				(unsigned long long)(((seed >> 8) % 48 + 1) *
						     MIB),
				id % streams);
		fputs("}\n", out);
		live[id] = !live[id];
	}
	fclose(out);
	return trace_of(text);
}

static struct gp_settings settings_of(const char *conf)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	return settings;
}

static struct gp_headroom on_threads(const struct gp_trace *trace,
				     const struct gp_settings *settings,
				     uint32_t tries, size_t threads)
{
	struct gp_headroom_config config = {
		.trace = trace,
		.settings = settings,
		.engine = gp_engine_find("caching"),
		.tries = tries,
		.threads = threads,
	};
	struct gp_headroom headroom;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_headroom(&config, &headroom, &diag), GP_OK);
	return headroom;
}

static struct gp_headroom headroom_of(const struct gp_trace *trace,
				      const struct gp_settings *settings,
				      uint32_t tries)
{
	return on_threads(trace, settings, tries, 0);
}

static bool is_fine(const struct gp_trace *trace,
		    const struct gp_settings *settings, uint64_t capacity,
		    enum gp_headroom_goal goal)
{
	struct gp_replay_config config = {
		.trace = trace,
		.settings = settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = capacity,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	bool fine;

	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_OK);
	fine = gp_replay_has_room(&result) &&
	       (goal == GP_NO_OOM || !result.counts.retries);
	gp_replay_release(&result);
	return fine;
}

/* Checks each capacity, from the largest relevant one downward. */
static void check_all(const struct gp_trace *trace,
		      const struct gp_settings *settings,
		      const struct gp_headroom *h, enum gp_headroom_goal goal)
{
	const struct gp_headroom_bound *bound = &h->bounds[goal];
	uint64_t from = bound->top + 16 * GRAIN, lowest = bound->capacity;

	ck_assert(bound->is_there);
	ck_assert_uint_eq(bound->unknown_above, 0);
	for (uint64_t at = from; at >= bound->capacity; at -= GRAIN)
		ck_assert(is_fine(trace, settings, at, goal));
	if (bound->failing)
		ck_assert(!is_fine(trace, settings, bound->failing, goal));
	for (uint64_t at = h->least; at < bound->capacity; at += GRAIN)
		if (at < lowest && is_fine(trace, settings, at, goal))
			lowest = at;
	if (goal == GP_NO_OOM)
		ck_assert_uint_eq(bound->fine_below,
				  lowest < bound->capacity ? lowest : 0);
	ck_assert(h->least <= GRAIN ||
		  !is_fine(trace, settings, h->least - GRAIN, goal));
}

START_TEST(every_capacity_is_as_the_search_says)
{
	static const char *const confs[] = {
		"",
		"expandable_segments:True",
		"max_split_size_mb:21",
		"roundup_power2_divisions:4",
		("per_process_memory_fraction:0.9,"
		 "garbage_collection_threshold:0.5"),
	};

	for (size_t i = 0; i < COUNT_OF(confs); i++)
		for (unsigned seed = 1; seed <= 12; seed++) {
			struct gp_settings settings = settings_of(confs[i]);
			struct gp_trace *trace = made_up(seed);
			struct gp_headroom h =
				headroom_of(trace, &settings, 1000);

			check_all(trace, &settings, &h, GP_NO_OOM);
			check_all(trace, &settings, &h, GP_NO_RETRY);
			gp_headroom_release(&h);
			gp_trace_destroy(trace);
		}
}
END_TEST

static void check_same(const struct gp_headroom *a, const struct gp_headroom *b)
{
	ck_assert_uint_eq(a->replays, b->replays);
	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++) {
		const struct gp_headroom_bound *x = &a->bounds[goal];
		const struct gp_headroom_bound *y = &b->bounds[goal];

		ck_assert_uint_eq(x->capacity, y->capacity);
		ck_assert_uint_eq(x->failing, y->failing);
		ck_assert_uint_eq(x->top, y->top);
		ck_assert_uint_eq(x->unknown_above, y->unknown_above);
		ck_assert_uint_eq(x->fine_below, y->fine_below);
		ck_assert_uint_eq(x->unknown_below, y->unknown_below);
	}
}

/* This includes the reported number of replays, and what remains unknown with
 * few tries. */
START_TEST(threads_change_nothing)
{
	static const char *const confs[] = {
		"",
		"expandable_segments:True",
		"max_split_size_mb:21",
	};
	static const uint32_t tries[] = { 1000, 4, 1 };

	for (size_t i = 0; i < COUNT_OF(confs); i++)
		for (unsigned seed = 1; seed <= 12; seed++) {
			struct gp_settings settings = settings_of(confs[i]);
			struct gp_trace *trace = made_up(seed);
			uint32_t most = tries[seed % COUNT_OF(tries)];
			struct gp_headroom one =
				headroom_of(trace, &settings, most);
			struct gp_headroom three =
				on_threads(trace, &settings, most, 3);

			check_same(&one, &three);
			gp_headroom_release(&one);
			gp_headroom_release(&three);
			gp_trace_destroy(trace);
		}
}
END_TEST

START_TEST(few_tries_leave_something_unknown_and_say_so)
{
	struct gp_settings settings =
		settings_of("per_process_memory_fraction:0.9,"
			    "garbage_collection_threshold:0.5");
	struct gp_trace *trace = made_up(3);
	struct gp_headroom h = headroom_of(trace, &settings, 0);

	ck_assert(h.bounds[GP_NO_OOM].is_there);
	ck_assert_uint_gt(h.bounds[GP_NO_OOM].unknown_above, 0);
	gp_headroom_release(&h);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_the_program_holds_is_counted_without_an_allocator)
{
	uint64_t live;
	struct gp_trace *trace =
		trace_of(ONE_DEVICE("{\"op\":\"alloc\",\"id\":1,\"size\":5},"
				    "{\"op\":\"alloc\",\"id\":2,\"size\":7},"
				    "{\"op\":\"free\",\"id\":1},"
				    "{\"op\":\"other_memory\",\"bytes\":600},"
				    "{\"op\":\"alloc\",\"id\":1,\"size\":1}"));

	ck_assert_uint_eq(gp_study_live(trace, 0, 1), 12);
	ck_assert_uint_eq(gp_study_live(trace, 0, 512), 1024);
	ck_assert_uint_eq(gp_study_live_beside(trace, 0, &live), 1624);
	ck_assert_uint_eq(live, 1024);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_request_that_no_device_can_serve_has_no_answer)
{
	struct gp_settings settings = settings_of("");
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\":\"alloc\",\"id\":1,\"size\":1152921504606846976}"));
	struct gp_headroom h = headroom_of(trace, &settings, 10);

	ck_assert(!h.bounds[GP_NO_OOM].is_there);
	gp_headroom_release(&h);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ every_capacity_is_as_the_search_says, 0 },
		{ threads_change_nothing, 0 },
		{ few_tries_leave_something_unknown_and_say_so, 0 },
		{ what_the_program_holds_is_counted_without_an_allocator, 0 },
		{ a_request_that_no_device_can_serve_has_no_answer, 0 },
	};

	return suite_run("headroom", tests, COUNT_OF(tests));
}
