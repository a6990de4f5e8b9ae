/* SPDX-License-Identifier: MIT */
/* What explain tries that is no setting. */
#include "study/metrics/explain.h"

#include "gpupool/release.h"
#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

static struct gp_explain explain_of(const struct gp_trace *trace,
				    uint64_t capacity)
{
	struct gp_settings settings;
	struct gp_replay_config run = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
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
/* 2 MiB of site 0 hold 20; then site 1, or site 0 itself, wants more. */
#define HELD_BY_SITE(site)                                                     \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "          \
	"[\"log.py:7 it's\", \"train.py:9 step\"], \"devices\": "              \
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

START_TEST(the_site_that_holds_most_is_dropped_to_see)
{
	struct gp_trace *trace = trace_of(HELD_BY_SITE("1"));
	struct gp_explain e = explain_of(trace, 30 * MIB);
	const struct gp_attempt *without =
		attempt_named(&e, "without log.py:7 it's");

	/* It helps, but no shell takes it. */
	ck_assert_ptr_nonnull(without);
	ck_assert(without->no_oom && !*without->flag);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* Nothing serves 40 MiB; without the block that holds 20, all before are. */
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

START_TEST(a_request_that_is_dropped_is_not_served)
{
	struct gp_trace *trace = trace_of(HELD_BY_SITE("0"));
	struct gp_explain e = explain_of(trace, 30 * MIB);

	ck_assert(!e.base.no_oom);
	ck_assert_ptr_null(attempt_named(&e, "without log.py:7 it's"));
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_site_that_holds_most_is_dropped_to_see, 0 },
		{ what_fails_later_comes_first, 0 },
		{ a_request_that_is_dropped_is_not_served, 0 },
	};

	return suite_run("attempt", tests, COUNT_OF(tests));
}
