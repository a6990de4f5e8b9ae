/* SPDX-License-Identifier: MIT */
/* The verdict, compared with what PyTorch did with the same memory under other
 * settings; and what each failed request would have needed. */
#include "study/metrics/explain.h"
#include "gpupool/study.h"

#include <glob.h>
#include <jansson.h>
#include <libgen.h>

#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

/* What PyTorch did for one program, with a given memory size and setting. */
struct answer {
	char program[64], conf[128];
	uint64_t capacity;
	uint64_t alloc, size; /* of the first OOM; alloc 0: none */
};

static void explain_with(const struct gp_trace *trace, const char *conf,
			 uint64_t capacity, struct gp_explain *explain)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };
	struct gp_replay_config run = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = capacity,
	};
	struct gp_explain_config config = { .run = &run };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	ck_assert_int_eq(gp_explain(&config, explain, &diag), GP_OK);
}

static bool is_same_machine(const struct answer *a, const struct answer *b)
{
	return !strcmp(a->program, b->program) && a->capacity == b->capacity;
}

/* Whether another setting served the request that failed under this one. */
static bool is_served_elsewhere(const struct answer *answers, size_t count,
				const struct answer *a)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_machine(&answers[i], a) &&
		    (!answers[i].alloc || answers[i].alloc > a->alloc))
			return true;
	return false;
}

static struct gp_verdict verdict_on(const struct gp_trace *trace,
				    const struct answer *a)
{
	const struct gp_case one = { .trace = trace, .capacity = a->capacity };
	struct gp_study_config config = {
		.cases = &one,
		.case_count = 1,
		.release = GP_RELEASE_LAST,
		.conf = a->conf,
		.engine = gp_engine_find("caching"),
		.prices = gp_prices_built_in(),
		.budget = 200, /* enough if no setting serves everything */
	};
	struct gp_study study;
	struct gp_verdict verdict;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_study(&config, &study, &diag), GP_OK);
	verdict = study.verdicts[0];
	gp_study_release(&study);
	verdict.conf = NULL;
	return verdict;
}

/* Whether another setting served everything. */
static bool is_all_served_elsewhere(const struct answer *answers, size_t count,
				    const struct answer *a)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_machine(&answers[i], a) && !answers[i].alloc)
			return true;
	return false;
}

static void check_answer(const struct gp_trace *trace,
			 const struct answer *answers, size_t count,
			 const struct answer *a)
{
	struct gp_verdict v = verdict_on(trace, a);
	struct gp_explain e;

	explain_with(trace, a->conf, a->capacity, &e);
	ck_assert_msg((v.kind == GP_VERDICT_FITS) == !a->alloc, "%s %s",
		      a->program, a->conf);
	ck_assert((v.kind == GP_VERDICT_TOO_SMALL) == (v.live > v.capacity));
	if (a->alloc && is_all_served_elsewhere(answers, count, a))
		ck_assert_int_eq(v.kind, GP_VERDICT_SETTING);
	if (a->alloc) {
		ck_assert_uint_eq(e.result.first_oom.alloc, a->alloc);
		ck_assert_uint_eq(e.result.first_oom.size, a->size);
		ck_assert_int_eq(e.failures[0].is_too_small,
				 !is_served_elsewhere(answers, count, a));
	}
	gp_explain_release(&e);
}

/* PyTorch 2.15 on 6600 MiB, from the recordings' memory_stats. */
START_TEST(each_setting_of_a_tight_device_is_judged_by_the_others)
{
#define GPT2(conf, alloc)                                                      \
	{                                                                      \
		"gpt2-ragged", conf, 6920601600, alloc, 1235116032             \
	}
	static const struct answer answers[] = {
		GPT2("", 14137),
		GPT2("expandable_segments:True", 14140),
		GPT2("max_split_size_mb:64", 14140),
		GPT2("garbage_collection_threshold:0.7,"
		     "per_process_memory_fraction:0.95",
		     14137),
	};
	struct gp_trace *trace =
		trace_at("traces/recorded/gpt2-ragged.default.pickle.zst");

	ck_assert_ptr_nonnull(trace);
	for (size_t i = 0; i < COUNT_OF(answers); i++)
		check_answer(trace, answers, COUNT_OF(answers), &answers[i]);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- every OOM of a run ---- */

/* The bytes of the program's own requests in use before an event. */
static uint64_t live_before(const struct gp_device_trace *device, uint64_t end)
{
	uint64_t *sizes = calloc(device->block_ids + 1, sizeof(*sizes));
	uint64_t sum = 0;

	ck_assert_uint_eq(device->start.block_count, 0);
	for (size_t i = 0; i < end; i++) {
		const struct gp_event *e = &device->events[i];

		if (e->kind == GP_ALLOC)
			sum += sizes[e->id] = (e->size + 511) / 512 * 512;
		else if (e->kind == GP_FREE)
			sum -= sizes[e->id];
	}
	free(sizes);
	return sum;
}

static void check_failures(const struct gp_trace *trace, uint64_t capacity)
{
	struct gp_explain e;

	explain_with(trace, "", capacity, &e);
	ck_assert_uint_gt(e.failure_count, 1);
	for (size_t i = 0; i < e.failure_count; i++) {
		const struct gp_failure *f = &e.failures[i];
		const struct gp_oom *oom = &e.result.ooms.list[i];
		uint64_t needed = live_before(&trace->devices[0], oom->event) +
				  (oom->size + 511) / 512 * 512;

		ck_assert_uint_eq(f->needed, needed);
		ck_assert_int_eq(f->is_too_small, needed > capacity);
	}
	gp_explain_release(&e);
}

START_TEST(requests_after_the_first_are_judged_as_if_it_had_been_served)
{
	static const uint64_t capacities[] = { 5242880000, 6920601600 };
	struct gp_trace *trace =
		trace_at("traces/recorded/gpt2-ragged.default.pickle.zst");

	ck_assert_ptr_nonnull(trace);
	for (size_t i = 0; i < COUNT_OF(capacities); i++)
		check_failures(trace, capacities[i]);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_the_recording_did_not_serve_is_not_live_afterwards)
{
	/* 10 MiB are reserved. The program continues without the 20 MiB that
	 * were refused, and then requests 9 of the 10. */
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"oom\", \"size\": 20971520, \"device_free\": 0},"
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, "
		"\"refused\": true},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 1048576},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 10485760}"));
	struct gp_explain e;

	explain_with(trace, "", 10 << 20, &e);
	ck_assert_uint_eq(e.failure_count, 2);
	ck_assert_uint_eq(e.failures[1].needed, 11 << 20);
	gp_explain_release(&e);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- recordings outside the repository ---- */

static struct answer answer_at(const char *path)
{
	struct answer a = { 0 };
	char *copy = strdup(path), *name = basename(copy);
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error), *oom;

	ck_assert_msg(root != NULL, "%s: %s", path, error.text);
	snprintf(a.program, sizeof(a.program), "%.*s", (int)strcspn(name, "."),
		 name);
	snprintf(a.conf, sizeof(a.conf), "%s",
		 json_string_value(json_object_get(root, "settings")));
	a.capacity =
		(uint64_t)json_integer_value(json_object_get(root, "capacity"));
	oom = json_object_get(root, "first_oom");
	a.alloc = (uint64_t)json_integer_value(json_object_get(oom, "alloc"));
	a.size = (uint64_t)json_integer_value(json_object_get(oom, "size"));
	json_decref(root);
	free(copy);
	return a;
}

START_TEST(recordings_are_judged_by_their_other_settings)
{
	struct answer answers[32];
	size_t count = 0;
	glob_t found;

	if (glob("../shared/recorded/*.tight*.stats.json", 0, NULL, &found))
		skip_test("verdicts of recordings",
			  "no recordings on this machine");
	for (; count < found.gl_pathc && count < COUNT_OF(answers); count++)
		answers[count] = answer_at(found.gl_pathv[count]);
	for (size_t i = 0; i < count; i++) {
		char path[8192];
		struct gp_trace *trace;

		snprintf(path, sizeof(path),
			 "../shared/recorded/%s.default.pickle",
			 answers[i].program);
		trace = trace_at(path);
		ck_assert_ptr_nonnull(trace);
		check_answer(trace, answers, count, &answers[i]);
		gp_trace_destroy(trace);
	}
	globfree(&found);
}
END_TEST

START_TEST(a_case_of_a_device_that_the_trace_does_not_have)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512}"));
	const struct gp_case one = { .trace = trace, .device = 1 };
	struct gp_study_config config = { .cases = &one, .case_count = 1 };
	struct gp_study study;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_study(&config, &study, &diag), GP_USAGE);
	ck_assert_str_eq(diag.what, "the trace has no device of index 1");
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ each_setting_of_a_tight_device_is_judged_by_the_others, 0 },
		{ requests_after_the_first_are_judged_as_if_it_had_been_served,
		  0 },
		{ what_the_recording_did_not_serve_is_not_live_afterwards, 0 },
		{ recordings_are_judged_by_their_other_settings, 0 },
		{ a_case_of_a_device_that_the_trace_does_not_have, 0 },
	};

	return suite_run("verdict", tests, COUNT_OF(tests));
}
