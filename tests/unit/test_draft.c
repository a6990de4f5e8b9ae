/* SPDX-License-Identifier: MIT */
/* Drafts: what changes, and that nothing else does. */
#include "trace/draft.h"

#include <stdlib.h>
#include <string.h>

#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

/* 20 MiB are used and freed on one stream, then 20 MiB on another. */
static const char *const two_streams = ONE_DEVICE(
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520},"
	"{\"op\": \"free\", \"id\": 1},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520, \"stream\": 7},"
	"{\"op\": \"free\", \"id\": 2}");

START_TEST(nothing_changed_replays_alike)
{
	struct gp_trace *trace = trace_of(two_streams);
	struct gp_draft draft;
	struct gp_trace *same;

	gp_draft_init(&draft, trace);
	same = gp_draft_finish(&draft);
	ck_assert(gp_trace_equal(trace, same));
	gp_trace_destroy(same);
	gp_trace_destroy(trace);
}
END_TEST

/* A what-if decides again: recorded outcomes are removed, wherever they are. */
START_TEST(a_draft_has_no_outcomes_and_no_addresses)
{
#define PLACED "{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"addr\": 4096}"
#define REFUSED_ONE                                                            \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"refused\": true}"
#define GROWTH                                                                 \
	"{\"op\": \"segment_alloc\", \"addr\": 2097152, \"size\": 2097152}"
	static const char *const texts[] = {
		ONE_DEVICE(PLACED),
		ONE_DEVICE(GROWTH "," PLACED),
		ONE_DEVICE(PLACED ", {\"op\": \"free\", \"id\": 1, "
				  "\"addr\": 4096}"),
		ONE_DEVICE(REFUSED_ONE),
		ONE_DEVICE(REFUSED_ONE "," GROWTH),
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct gp_trace *trace = trace_of(texts[i]), *same;
		struct gp_draft draft;

		gp_draft_init(&draft, trace);
		same = gp_draft_finish(&draft);
		for (size_t k = 0; k < same->devices->event_count; k++) {
			const struct gp_event *e = &same->devices->events[k];

			ck_assert(e->kind < GP_FIRST_OUTCOME ||
				  e->kind == GP_SNAPSHOT);
			ck_assert_uint_eq(e->addr, 0);
			ck_assert_uint_eq(e->flags & GP_REFUSED, 0);
		}
		gp_trace_destroy(same);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Drops the marked blocks, given by id. */
static struct gp_trace *without(const struct gp_trace *trace,
				const bool *marked)
{
	struct gp_draft draft;
	struct gp_draft_device *d;

	gp_draft_init(&draft, trace);
	d = &draft.devices[0];
	for (size_t i = 0; i < d->block_count; i++)
		if (d->blocks[i].id != GP_NO_ID && marked[d->blocks[i].id])
			gp_draft_set_free(&d->blocks[i]);
	for (size_t i = 0; i < d->event_count; i++)
		if (gp_draft_has_block(&d->events[i]) &&
		    marked[d->events[i].id])
			gp_draft_leave_out(&d->events[i]);
	return gp_draft_finish(&draft);
}

START_TEST(events_left_out_keep_the_numbers_of_the_others)
{
	struct gp_trace *trace = trace_of(two_streams);
	const bool marked[2] = { true, false };
	struct gp_trace *altered = without(trace, marked);

	ck_assert_uint_eq(altered->devices[0].event_count, 4);
	ck_assert_int_eq(altered->devices[0].events[0].kind, GP_SNAPSHOT);
	ck_assert_int_eq(altered->devices[0].events[1].kind, GP_SNAPSHOT);
	/* Ids stay dense. */
	ck_assert_uint_eq(altered->devices[0].events[2].id, 0);
	ck_assert_uint_eq(altered->devices[0].names[0], 2);
	ck_assert_uint_eq(peak_of(altered), 20 * MIB);
	gp_trace_destroy(altered);
	gp_trace_destroy(trace);
}
END_TEST

/* 10 MiB are free, 2 MiB in use and 8 MiB free; then 20 MiB are requested. */
static const char *const held_by_one =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": 4194304, "
	"\"total_size\": 20971520, \"segment_type\": \"large\", \"blocks\": ["
	"{\"size\": 10485760, \"state\": \"inactive\"},"
	"{\"size\": 2097152, \"id\": 1, \"state\": \"active_allocated\"},"
	"{\"size\": 8388608, \"state\": \"inactive\"}]}]}, "
	"\"events\": [{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520}]}]}";

START_TEST(a_block_of_the_start_that_is_dropped_joins_its_neighbours)
{
	struct gp_trace *trace = trace_of(held_by_one);
	const bool marked[2] = { true, false };
	struct gp_trace *altered = without(trace, marked);

	ck_assert_uint_eq(trace->devices[0].start.block_count, 3);
	ck_assert_uint_eq(altered->devices[0].start.block_count, 1);
	ck_assert_uint_eq(altered->devices[0].start.blocks[0].size, 20 * MIB);
	ck_assert_uint_eq(peak_of(trace), 40 * MIB);
	ck_assert_uint_eq(peak_of(altered), 20 * MIB);
	gp_trace_destroy(altered);
	gp_trace_destroy(trace);
}
END_TEST

static uint64_t name_of(const uint64_t *names, uint32_t id)
{
	return names ? names[id] : id;
}

/* A file may use a name several times, a draft does not; nor does a block that
 * is added share a name. */
START_TEST(each_block_has_a_name_of_its_own)
{
	static const struct {
		size_t count;
		uint64_t names[3], then[3], added;
	} rows[] = {
		{ 1, { 0 }, { 0 }, 1 },
		{ 1, { 2 }, { 2 }, 3 },
		{ 2, { 3, 5 }, { 3, 5 }, 6 },
		{ 2, { 5, 3 }, { 5, 3 }, 6 },
		{ 2, { 5, 5 }, { 5, 7 }, 6 },
		{ 3, { 5, 3, 5 }, { 5, 3, 7 }, 6 },
		{ 3, { 3, 3, 5 }, { 3, 7, 5 }, 6 },
		{ 3, { 0, 0, 0 }, { 0, 2, 3 }, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char events[512], text[1024];
		size_t n = 0;
		struct gp_trace *trace, *same;
		struct gp_draft draft;
		uint32_t id;

		for (size_t k = 0; k < rows[i].count; k++)
			n += (size_t)snprintf(
				events + n, sizeof(events) - n,
				"%s{\"op\": \"alloc\", \"id\": %u, \"size\": "
				"512}, {\"op\": \"free\", \"id\": %u}",
				k ? ", " : "", (unsigned)rows[i].names[k],
				(unsigned)rows[i].names[k]);
		snprintf(text, sizeof(text), ONE_DEVICE("%s"), events);
		trace = trace_of(text);
		gp_draft_init(&draft, trace);
		id = gp_draft_add_block(&draft.devices[0]);
		ck_assert_uint_eq(name_of(draft.devices[0].names, id),
				  rows[i].added);
		same = gp_draft_finish(&draft);
		for (size_t k = 0; k < rows[i].count; k++)
			ck_assert_msg(name_of(same->devices->names,
					      (uint32_t)k) == rows[i].then[k],
				      "%zu: %zu", i, k);
		gp_trace_destroy(same);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(events_can_be_added)
{
	struct gp_trace *trace = trace_of(two_streams), *altered;
	const struct gp_event mark = { .kind = GP_RESET_PEAK,
				       .id = GP_NO_ID,
				       .site = GP_NO_SITE };
	const struct gp_event empty = { .kind = GP_EMPTY_CACHE,
					.id = GP_NO_ID,
					.site = GP_NO_SITE };
	struct gp_draft draft;

	gp_draft_init(&draft, trace);
	gp_draft_add(&draft.devices[0], 4, &mark);
	gp_draft_add(&draft.devices[0], 2, &empty);
	gp_draft_add(&draft.devices[0], 2, &mark);
	gp_draft_add(&draft.devices[0], 0, &mark);
	altered = gp_draft_finish(&draft);
	ck_assert_uint_eq(altered->devices[0].event_count, 8);
	ck_assert_int_eq(altered->devices[0].events[0].kind, GP_RESET_PEAK);
	ck_assert_int_eq(altered->devices[0].events[1].kind, GP_ALLOC);
	ck_assert_int_eq(altered->devices[0].events[3].kind, GP_EMPTY_CACHE);
	ck_assert_int_eq(altered->devices[0].events[4].kind, GP_RESET_PEAK);
	ck_assert_int_eq(altered->devices[0].events[7].kind, GP_RESET_PEAK);
	ck_assert_uint_eq(peak_of(altered), 20 * MIB);
	gp_trace_destroy(altered);
	gp_trace_destroy(trace);
}
END_TEST

/* The allocated bytes after chosen events, as a look reports them. */
struct seen {
	uint64_t events[4], allocated[4];
	size_t count;
};

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct seen *seen = arg;

	seen->events[seen->count] = event;
	seen->allocated[seen->count++] = (uint64_t)gp_level_now(
		&allocator->levels[GP_STAT_ALLOCATED_BYTES]);
}

START_TEST(somebody_looks_after_chosen_events)
{
	struct gp_trace *trace = trace_of(two_streams);
	const uint64_t looks[] = { 0, 0, 1, 2, 99 };
	struct gp_settings settings;
	struct seen seen = { .count = 0 };
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;

	config.look = look;
	config.look_arg = &seen;
	config.looks = looks;
	config.look_count = COUNT_OF(looks);
	result = played(&config);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_uint_eq(seen.events[1], 1);
	ck_assert_uint_eq(seen.allocated[0], 20 * MIB);
	ck_assert_uint_eq(seen.allocated[1], 0);
	ck_assert_uint_eq(seen.allocated[2], 20 * MIB);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(without_others_all_else_is_as_it_was)
{
#define OTHERS(size) "{\"op\": \"other_memory\", \"bytes\": " size "},"
#define REST                                                                   \
	"{\"op\": \"segment_alloc\", \"addr\": 4194304, \"size\": 20971520},"  \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 9437184, \"addr\": "         \
	"4194304},"
	struct gp_trace *trace = trace_of(ONE_DEVICE(OTHERS("8192") REST OTHERS(
		"4096") OTHERS("0") "{\"op\": \"free\", \"id\": 1}"));
	struct gp_trace *none = trace_of(ONE_DEVICE(OTHERS("0") REST OTHERS(
		"0") OTHERS("0") "{\"op\": \"free\", \"id\": 1}"));
	struct gp_trace *made = gp_trace_without_others(trace);

	ck_assert_ptr_nonnull(made);
	ck_assert(gp_trace_equal(made, none) && !gp_trace_equal(trace, none));
	ck_assert_uint_eq(made->devices[0].events[1].addr, 4194304);
	ck_assert_ptr_null(gp_trace_without_others(none));
	gp_trace_destroy(made);
	gp_trace_destroy(none);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(marks_without_their_names_are_lettered)
{
	static const struct {
		size_t mark;
		const char *name;
	} rows[] = {
		{ 0, "mark-A" },    { 25, "mark-Z" },	 { 26, "mark-AA" },
		{ 27, "mark-AB" },  { 51, "mark-AZ" },	 { 52, "mark-BA" },
		{ 701, "mark-ZZ" }, { 702, "mark-AAA" },
	};
	char text[64 * 1024] = "";
	size_t n = 0;
	struct gp_trace *trace, *anonymous, exact;
	const struct gp_event *events;
	const char **texts;

	for (int i = 0; i < 703; i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"%s{\"op\": \"mark\", \"name\": \"%c%c\"}",
			i ? ", "
			  : "{\"format\": \"gpupool-trace\", "
			    "\"version\": 1, \"devices\": "
			    "[{\"device\": 0, \"events\": [",
			'a' + i / 27, 'A' + i % 27);
	snprintf(text + n, sizeof(text) - n, "]}]}");
	trace = trace_of(text);
	/* In a buffer of exactly this size, so that a sanitizer sees reads
	 * beyond it. */
	exact = *trace;
	exact.texts = texts = malloc(trace->text_count * sizeof(*texts));
	memcpy(texts, trace->texts, trace->text_count * sizeof(*texts));
	anonymous = gp_trace_anonymous(&exact);
	free(texts);
	events = anonymous->devices[0].events;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_str_eq(anonymous->texts[events[rows[i].mark].text],
				 rows[i].name);
	gp_trace_destroy(anonymous);
	gp_trace_destroy(trace);
}
END_TEST

/* Names that differ only in numbers, or beyond 63 characters, share their
 * letters. */
START_TEST(marks_that_differ_in_numbers_share_a_name)
{
	static const char *const ends[] = { "", "xa", "xb" };
	static const char *const want[] = { "step-A 1", "step-A 27", "mark-B",
					    "mark-B 2", "mark-C",    "mark-D",
					    "mark-D" };
	char text[1024];
	struct gp_trace *trace, *anonymous;
	const struct gp_event *events;
	int n = snprintf(text, sizeof(text),
			 "{\"format\": \"gpupool-trace\", \"version\": 1, "
			 "\"devices\": [{\"device\": 0, \"events\": ["
			 "{\"op\": \"mark\", \"name\": \"step 1\"}, "
			 "{\"op\": \"mark\", \"name\": \"step 27\"}, "
			 "{\"op\": \"mark\", \"name\": \"epoch\"}, "
			 "{\"op\": \"mark\", \"name\": \"epo2ch\"}");

	for (size_t i = 0; i < COUNT_OF(ends); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      ", {\"op\": \"mark\", \"name\": \"%s%s\"}",
			      "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"
			      "wxyzabcdefghij",
			      ends[i]);
	snprintf(text + n, sizeof(text) - (size_t)n, "]}]}");
	trace = trace_of(text);
	anonymous = gp_trace_anonymous(trace);
	events = anonymous->devices[0].events;
	for (size_t i = 0; i < COUNT_OF(want); i++)
		ck_assert_str_eq(anonymous->texts[events[i].text], want[i]);
	gp_trace_destroy(anonymous);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ nothing_changed_replays_alike, 0 },
		{ a_draft_has_no_outcomes_and_no_addresses, 0 },
		{ events_left_out_keep_the_numbers_of_the_others, 0 },
		{ a_block_of_the_start_that_is_dropped_joins_its_neighbours,
		  0 },
		{ each_block_has_a_name_of_its_own, 0 },
		{ events_can_be_added, 0 },
		{ somebody_looks_after_chosen_events, 0 },
		{ without_others_all_else_is_as_it_was, 0 },
		{ marks_without_their_names_are_lettered, 0 },
		{ marks_that_differ_in_numbers_share_a_name, 0 },
	};

	return suite_run("draft", tests, COUNT_OF(tests));
}
