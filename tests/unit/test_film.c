/* SPDX-License-Identifier: MIT */
/* Films show at every moment what the allocator itself shows. */
#include "study/metrics/film.h"

#include <glob.h>
#include <string.h>

#include "gpupool/input.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "suite.h"
#include "trace_text.h"

struct onlooker {
	struct gp_film *film;
	uint64_t every, looks;
};

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	struct onlooker *o = arg;

	gp_film_action(o->film, action, event);
}

static void compare_blocks(const struct gp_state *a, const struct gp_state *b)
{
	ck_assert_uint_eq(a->block_count, b->block_count);
	for (size_t i = 0; i < a->block_count; i++) {
		const struct gp_block *x = &a->blocks[i], *y = &b->blocks[i];

		ck_assert_uint_eq(x->addr, y->addr);
		ck_assert_uint_eq(x->size, y->size);
		ck_assert_int_eq(x->state, y->state);
		if (x->state == GP_INACTIVE)
			continue;
		ck_assert_uint_eq(x->id, y->id);
		ck_assert_uint_eq(x->requested, y->requested);
	}
}

static void compare_segments(const struct gp_state *a, const struct gp_state *b)
{
	ck_assert_uint_eq(a->segment_count, b->segment_count);
	for (size_t i = 0; i < a->segment_count; i++) {
		const struct gp_segment *x = &a->segments[i];
		const struct gp_segment *y = &b->segments[i];

		ck_assert_uint_eq(x->addr, y->addr);
		ck_assert_uint_eq(x->size, y->size);
		ck_assert_uint_eq(x->blocks, y->blocks);
		ck_assert_int_eq(x->stream, y->stream);
		ck_assert_int_eq(x->pool, y->pool);
		ck_assert_int_eq(x->is_small, y->is_small);
		ck_assert_int_eq(x->is_expandable, y->is_expandable);
	}
}

static uint64_t largest_free(const struct gp_state *state)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_INACTIVE &&
		    state->blocks[i].size > largest)
			largest = state->blocks[i].size;
	return largest;
}

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct onlooker *o = arg;
	struct gp_state real, filmed;

	gp_film_look(o->film, allocator);
	if (event % o->every)
		return;
	allocator->ops->state(allocator, &real);
	gp_film_state(o->film, event, &filmed);
	compare_segments(&real, &filmed);
	compare_blocks(&real, &filmed);
	ck_assert_uint_eq(gp_moment_of(allocator, event).largest_free,
			  largest_free(&real));
	gp_state_release(&real);
	gp_state_release(&filmed);
	o->looks++;
}

/* Returns the number of changes. */
static size_t film_trace(struct gp_trace *trace, const char *conf,
			 uint64_t capacity, uint64_t every)
{
	const struct gp_shot *shots;
	size_t count;
	struct onlooker o = { .every = every };
	struct gp_settings settings;
	struct gp_replay_config config = {
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = capacity,
		.action = hear,
		.action_arg = &o,
		.look = look,
		.look_arg = &o,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	config.trace = trace;
	o.film = gp_film_create(&trace->devices[0]);
	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_OK);
	ck_assert_uint_gt(o.looks, 0);
	count = gp_film_shots(o.film, &shots);
	gp_film_destroy(o.film);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
	return count;
}

static void film(const char *path, const char *conf, uint64_t capacity,
		 uint64_t every)
{
	struct gp_input_config input = { .path = path };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;

	ck_assert_int_eq(gp_input_read(&input, &trace, &diag), GP_OK);
	film_trace(trace, conf, capacity, every);
}

#define FSDP "traces/recorded/fsdp-rank0-of-64.default.pickle.gz"
#define OPT  "traces/recorded/opt-finetune-2.9.jsonl.gz"
#define MIB  (UINT64_C(1) << 20)

START_TEST(a_film_shows_what_the_allocator_shows)
{
	static const struct {
		const char *path, *conf;
		uint64_t capacity, every;
	} rows[] = {
		{ "traces/tiny/two-share-a-segment.json", "", GP_UNLIMITED, 1 },
		{ "traces/tiny/expandable-segment-grows.json",
		  "expandable_segments:True", GP_UNLIMITED, 1 },
		{ "traces/tiny/retry-gives-back-the-cache.json", "", 64 * MIB,
		  1 },
		{ "traces/tiny/free-waits-for-another-stream.json", "",
		  GP_UNLIMITED, 1 },
		{ FSDP, "", GP_UNLIMITED, 97 },
		{ FSDP, "expandable_segments:True", GP_UNLIMITED, 401 },
		{ FSDP, "expandable_segments:True", 4592 * MIB, 401 },
		{ FSDP, "max_split_size_mb:64", 4600 * MIB, 401 },
		{ FSDP, "roundup_power2_divisions:4", GP_UNLIMITED, 401 },
		{ OPT, "", GP_UNLIMITED, 401 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		film(rows[i].path, rows[i].conf, rows[i].capacity,
		     rows[i].every);
}
END_TEST

/* The hand-written traces have private pools, captures and several streams. */
START_TEST(films_of_all_tiny_traces_show_what_the_allocator_shows)
{
	glob_t found;

	ck_assert_int_eq(glob("traces/tiny/*.json*", 0, NULL, &found), 0);
	ck_assert_uint_gt(found.gl_pathc, 30);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		film(found.gl_pathv[i], "", GP_UNLIMITED, 1);
		film(found.gl_pathv[i], "expandable_segments:True",
		     GP_UNLIMITED, 1);
		film(found.gl_pathv[i], "", 40 * MIB, 1);
	}
	globfree(&found);
}
END_TEST

/* The changes are adjacent in memory, and are two changes all the same. */
START_TEST(a_wait_and_its_free_are_of_different_moments)
{
	film_trace(
		trace_of("{\"format\": \"gpupool-trace\", \"version\": 1,"
			 "\"devices\": [{\"device\": 0, \"events\": ["
			 "{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
			 "{\"op\": \"record_stream\", \"id\": 1,"
			 " \"stream\": 16},"
			 "{\"op\": \"free\", \"id\": 1},"
			 "{\"op\": \"synchronize\", \"stream\": 16},"
			 "{\"op\": \"alloc\", \"id\": 2, \"size\": 512}]}]}"),
		"", GP_UNLIMITED, 1);
}
END_TEST

/* A segment, a block, and that it is free. */
START_TEST(a_free_without_delay_is_one_change)
{
	static const char text[] =
		"{\"format\": \"gpupool-trace\", \"version\": 1,"
		"\"devices\": [{\"device\": 0, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
		"{\"op\": \"free\", \"id\": 1}]}]}";

	ck_assert_uint_eq(film_trace(trace_of(text), "", GP_UNLIMITED, 1), 3);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_wait_and_its_free_are_of_different_moments, 0 },
		{ a_free_without_delay_is_one_change, 0 },
		{ a_film_shows_what_the_allocator_shows, 0 },
		{ films_of_all_tiny_traces_show_what_the_allocator_shows, 0 },
	};

	return suite_run("film", tests, COUNT_OF(tests));
}
