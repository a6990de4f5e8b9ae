/* SPDX-License-Identifier: MIT */
/* What explain tries besides settings. */
#include "study/metrics/explain.h"

#include <wordexp.h>

#include "played.h"
#include "random_trace.h"
#include "study/what_if/what_if.h"

#define MIB (UINT64_C(1) << 20)

static struct gp_explain explain_device(const struct gp_trace *trace,
					uint32_t device, uint64_t capacity)
{
	struct gp_settings settings;
	struct gp_replay_config run = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.device = device,
		.mode = GP_WHAT_IF,
		.capacity = capacity,
	};
	struct gp_explain_config config = { .run = &run };
	struct gp_explain explain;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_explain(&config, &explain, &diag), GP_OK);
	return explain;
}

static struct gp_explain explain_of(const struct gp_trace *trace,
				    uint64_t capacity)
{
	return explain_device(trace, 0, capacity);
}

/* A block of 2 MiB of site 0 pins a segment of 20; then site 1, or site 0
 * itself, requests more. */
#define HELD_BY_SITE(name, site)                                               \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "          \
	"[\"" name "\", \"train.py:9 step\"], \"devices\": "                   \
	"[{\"device\": 0, \"events\": ["                                       \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 9437184, \"site\": 1},"      \
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 2097152, \"site\": 0},"      \
	"{\"op\": \"alloc\", \"id\": 3, \"size\": 9437184, \"site\": 1},"      \
	"{\"op\": \"free\", \"id\": 1},"                                       \
	"{\"op\": \"free\", \"id\": 3},"                                       \
	"{\"op\": \"alloc\", \"id\": 4, \"size\": 19922944, \"site\": " site   \
	"}]}]}"

static const struct gp_attempt *attempt_named(const struct gp_explain *e,
					      const char *name)
{
	for (size_t i = 0; i < e->attempt_count; i++)
		if (!strcmp(e->attempts[i].name, name))
			return &e->attempts[i];
	return NULL;
}

/* A shell splits the flag into the words that the command takes. Parsed, these
 * give what was tried, and a run with it has the same result. */
static void check_again(const struct gp_explain *e,
			const struct gp_attempt *attempt, uint64_t capacity)
{
	wordexp_t words;
	struct gp_what_if asked = { NULL, NULL };
	struct gp_what_if_config config = { .trace = e->trace,
					    .asked = &asked,
					    .count = 1 };
	struct gp_what_ifs made;
	struct gp_settings settings;
	struct gp_replay_config run;
	struct gp_replay_result result;
	struct gp_diag diag;
	uint64_t added, failed;

	ck_assert_int_eq(wordexp(attempt->flag, &words, WRDE_NOCMD), 0);
	asked.row = gp_what_if_find(words.we_wordv[0] + 2);
	ck_assert_uint_eq(words.we_wordc, asked.row->argument ? 2 : 1);
	asked.argument = words.we_wordv[1];
	ck_assert_int_eq(gp_what_ifs_make(&config, &made, &diag), GP_OK);
	run = run_of(made.trace, &settings);
	run.capacity = capacity;
	result = played(&run);
	added = made.trace->devices->event_count -
		e->trace->devices->event_count;
	failed = result.first_oom.event;
	failed -= failed < added ? failed : added;
	ck_assert_int_eq(attempt->no_oom, !result.first_oom.is_there);
	ck_assert_uint_eq(attempt->oom_event, failed);
	ck_assert_int_eq(attempt->serves, attempt->no_oom || failed > e->event);
	ck_assert_uint_eq(attempt->peak_reserved, result.at_peak.reserved);
	ck_assert_uint_eq(attempt->peak_allocated,
			  gp_replay_peak_allocated(&result));
	ck_assert_uint_eq(attempt->retries, (uint64_t)result.counts.retries);
	ck_assert_uint_eq(attempt->ooms, (uint64_t)result.stats.num_ooms);
	ck_assert_uint_eq(attempt->mallocs_and_pages,
			  result.calls.malloc + result.calls.map);
	gp_replay_release(&result);
	gp_what_ifs_release(&made);
	wordfree(&words);
}

/* An attempt is of no use if one listed before it is as good in everything. */
static bool is_no_better(const struct gp_attempt *a, const struct gp_attempt *b)
{
	if (a->no_oom != b->no_oom)
		return b->no_oom;
	if (!a->no_oom && a->oom_event != b->oom_event)
		return a->oom_event < b->oom_event;
	return a->peak_reserved >= b->peak_reserved;
}

START_TEST(an_attempt_is_what_its_flag_says)
{
	size_t tried = 0, without = 0;

	for (uint64_t seed = 0; seed < 40; seed++) {
		const struct trace_like like = { .events = 150,
						 .every = seed % 2 ? 30 : 0,
						 .has_start = seed % 4 > 1 };
		struct gp_trace *trace = trace_like(seed, &like);
		uint64_t capacity = peak_of(trace) * (7 + seed % 4) / 10;
		struct gp_explain e;

		if (capacity < gp_state_reserved(&trace->devices->start))
			capacity = GP_UNLIMITED;
		e = explain_of(trace, capacity);
		for (size_t i = 0; i < e.attempt_count; i++) {
			const struct gp_attempt *a = &e.attempts[i];

			check_again(&e, a, capacity);
			ck_assert(!i || is_no_better(a, a - 1));
			without += !strncmp(a->name, "without", 7);
			tried++;
		}
		gp_explain_release(&e);
		gp_trace_destroy(trace);
	}
	ck_assert_uint_gt(without, 5);
	ck_assert_uint_gt(tried, 100);
}
END_TEST

/* Names that a shell does not take literally, and one of each length. */
static const char *const names[] = {
	"log.py:7 it's", "a b.py:1 f",	"plain.py:3",  "$HOME.py:2",
	"~/x.py:1",	 "<eval>:1",	"a*.py:2 [b]", "a.py:1 \"f\" \\",
	"a.py:1;f",	 "a.py:1 `id`", "#a.py:1",     "a.py:1 (f|g)&",
};

static void try_name(const char *name)
{
	char text[2048], escaped[512];
	size_t n = 0;
	struct gp_trace *trace;
	struct gp_explain e;
	const struct gp_attempt *best;

	for (const char *at = name; *at; at++) {
		if (*at == '"' || *at == '\\')
			escaped[n++] = '\\';
		escaped[n++] = *at;
	}
	escaped[n] = '\0';
	snprintf(text, sizeof(text), HELD_BY_SITE("%s", "1"), escaped);
	trace = trace_of(text);
	e = explain_of(trace, 30 * MIB);
	best = &e.attempts[0];
	ck_assert(best->no_oom && !strncmp(best->name, "without ", 8));
	ck_assert_int_eq(*best->flag != 0,
			 strlen(name) <= 125 && !strchr(name, '\''));
	if (*best->flag)
		check_again(&e, best, 30 * MIB);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}

START_TEST(the_site_that_holds_most_is_dropped_to_see)
{
	char name[160];

	for (size_t i = 0; i < COUNT_OF(names); i++)
		try_name(names[i]);
	for (int n = 110; n < 140; n++) {
		snprintf(name, sizeof(name), "%0*d.py:1", n - 5, 0);
		try_name(name);
	}
}
END_TEST

/* Nothing serves 40 MiB; without the block that holds 20, everything before is
 * served. */
START_TEST(what_fails_later_comes_first)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"log.py:7\", \"train.py:9\"], \"devices\": "
		"[{\"device\": 0, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 9437184, \"site\": "
		"1},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 2097152, \"site\": "
		"0},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 9437184, \"site\": "
		"1},"
		"{\"op\": \"free\", \"id\": 1}, {\"op\": \"free\", \"id\": 3},"
		"{\"op\": \"alloc\", \"id\": 4, \"size\": 19922944, \"site\": "
		"1}, {\"op\": \"free\", \"id\": 4},"
		"{\"op\": \"alloc\", \"id\": 5, \"size\": 41943040, \"site\": "
		"1}"
		"]}]}");
	struct gp_explain e = explain_of(trace, 30 * MIB);

	ck_assert_uint_gt(e.attempt_count, 1);
	for (size_t i = 1; i < e.attempt_count; i++) {
		const struct gp_attempt *a = &e.attempts[i - 1], *b = a + 1;

		ck_assert(!b->no_oom);
		ck_assert_uint_ge(a->oom_event, b->oom_event);
	}
	ck_assert_uint_gt(e.attempts[0].oom_event,
			  e.attempts[e.attempt_count - 1].oom_event);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* A block of 4 MiB pins the 8 beside it; a larger block is not small compared
 * with them. */
START_TEST(a_block_that_pins_twice_its_size_is_dropped_to_see)
{
	for (unsigned more = 0; more <= 512; more += 512) {
		char text[1024];
		struct gp_trace *trace;
		struct gp_explain e;
		bool is_tried = false;

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": "
				    "12582912}, {\"op\": \"free\", \"id\": 1},"
				    "{\"op\": \"alloc\", \"id\": 2, \"size\": "
				    "%u}, {\"op\": \"alloc\", \"id\": 3, "
				    "\"size\": 10485760}"),
			 4194304 + more);
		trace = trace_of(text);
		e = explain_of(trace, 20 * MIB);
		for (size_t i = 0; i < e.attempt_count; i++)
			is_tried |= !strncmp(e.attempts[i].name, "without", 7);
		ck_assert_int_eq(is_tried, !more);
		gp_explain_release(&e);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(a_request_that_is_dropped_is_not_served)
{
	struct gp_trace *trace = trace_of(HELD_BY_SITE("log.py:7", "0"));
	struct gp_explain e = explain_of(trace, 30 * MIB);

	ck_assert(!e.base.no_oom);
	ck_assert_ptr_null(attempt_named(&e, "without log.py:7"));
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* Blocks merged or left out on one device are tried there, and on no other
 * device: segments, blocks or requests of another stream or pool. */
#define DEVICE(n, stream, pool, first, second, events)                         \
	"{\"device\": " #n ", \"start\": {\"segments\": [{\"address\": "       \
	"4194304, \"total_size\": 20971520, \"segment_type\": \"large\", "     \
	"\"stream\": " #stream ", \"segment_pool_id\": [0, " #pool             \
	"], \"blocks\": [{\"size\": 10485760, \"state\": " first               \
	"}, {\"size\": 10485760, \"state\": " second "}]}]}, \"events\": ["    \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 31457280" events "}]}"
#define DEVICES(first, second)                                                 \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": [" first \
	", " second "]}"
#define USED(id) "\"active_allocated\", \"id\": " #id
#define WAITING	 "\"active_pending_free\""
#define UNUSED	 "\"inactive\""

START_TEST(what_changes_on_another_device_is_not_tried)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
#define ROW(stream, pool, first, second, events, name)                         \
	{ DEVICES(DEVICE(0, 0, 0, USED(8), USED(9), ""),                       \
		  DEVICE(1, stream, pool, first, second, events)),             \
	  name }
		ROW(7, 0, USED(8), USED(9), "", "all work on one stream"),
		ROW(0, 0, USED(8), USED(9), ", \"stream\": 7",
		    "all work on one stream"),
		ROW(0, 0, USED(8), WAITING, "", "all work on one stream"),
		ROW(0, 0, WAITING, USED(8), "", "all work on one stream"),
		ROW(0, 0, WAITING, UNUSED, "", "all work on one stream"),
		ROW(0, 1, USED(8), USED(9), "", "no private pools"),
		ROW(0, 0, USED(8), USED(9), ", \"pool\": [0, 1]",
		    "no private pools"),
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(rows[i].text);

		for (uint32_t device = 0; device < 2; device++) {
			struct gp_explain e =
				explain_device(trace, device, 40 * MIB);

			ck_assert_msg((attempt_named(&e, rows[i].name) !=
				       NULL) == device,
				      "%zu", i);
			gp_explain_release(&e);
		}
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ an_attempt_is_what_its_flag_says, 0 },
		{ the_site_that_holds_most_is_dropped_to_see, 0 },
		{ what_fails_later_comes_first, 0 },
		{ a_block_that_pins_twice_its_size_is_dropped_to_see, 0 },
		{ a_request_that_is_dropped_is_not_served, 0 },
		{ what_changes_on_another_device_is_not_tried, 0 },
	};

	return suite_run("attempt", tests, COUNT_OF(tests));
}
