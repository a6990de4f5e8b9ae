/* SPDX-License-Identifier: MIT */
/* Replays on a device compared with simulated ones, if the device differs. */
#include "replay/verify/verify.h"

#include <string.h>

#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

static const char three_blocks[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 20971520}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 41943040}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 62914560}");

/* The device has less memory than expected. */
static struct gp_device *make_smaller(void *arg, uint32_t ordinal,
				      uint64_t capacity)
{
	(void)capacity;
	return gp_sim_create(ordinal, *(const uint64_t *)arg);
}

/* The device has its own addresses: for blocks by its number, and for
 * reservations as if somebody else had reserved there before. */
static struct gp_device *make_elsewhere(void *arg, uint32_t ordinal,
					uint64_t capacity)
{
	struct gp_device *device = gp_sim_create(ordinal + 1, capacity);
	uint64_t addr;

	(void)arg;
	ck_assert(device->ops->reserve(device, 64 * MIB, &addr));
	return device;
}

static struct gp_verify_result verify_trace(const char *text, uint8_t release,
					    struct gp_verify_config config)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_settings settings;
	struct gp_verify_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, release);
	if (config.conf)
		ck_assert_int_eq(
			gp_settings_parse(&settings, config.conf, &diag),
			GP_OK);
	config.trace = trace;
	config.settings = &settings;
	config.capacity = 1024 * MIB;
	if (!config.engine)
		config.engine = gp_engine_find("caching");
	ck_assert_int_eq(gp_verify(&config, &result, &diag), GP_OK);
	gp_trace_destroy(trace);
	return result;
}

static struct gp_verify_result verify(struct gp_verify_config config)
{
	return verify_trace(three_blocks, 15, config);
}

START_TEST(test_a_device_that_has_enough_is_equal)
{
	uint64_t bytes = 1024 * MIB;
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_smaller, .make_device_arg = &bytes });

	ck_assert(!result.first.is_there);
	/* Three segments, three blocks, a free and its completion. */
	ck_assert_uint_eq(result.actions, 8);
	ck_assert_uint_gt(result.counters, 100);
	ck_assert_uint_eq(result.peak, 120 * MIB);
}
END_TEST

START_TEST(test_a_device_that_runs_out_parts_there)
{
	uint64_t bytes = 80 * MIB;
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_smaller, .make_device_arg = &bytes });

	ck_assert(result.first.is_there);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_ACTION);
	ck_assert_uint_eq(result.first.event, 3);
}
END_TEST

/* At most four actions that agree, and four from the first difference on. */
START_TEST(test_what_both_did_around_the_difference_is_kept)
{
	static const struct {
		uint64_t mib, event;
		size_t before, ours;
	} rows[] = { { 10, 0, 0, 4 }, { 30, 1, 2, 6 }, { 80, 3, 4, 6 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t bytes = rows[i].mib * MIB;
		struct gp_verify_result result = verify(
			(struct gp_verify_config){ .make_device = make_smaller,
						   .make_device_arg = &bytes });
		const struct gp_difference *d = &result.first;
		const struct gp_caused_action *ours = d->ours.actions;
		const struct gp_caused_action *theirs = d->theirs.actions;

		ck_assert_uint_eq(d->event, rows[i].event);
		ck_assert_uint_eq(d->before, rows[i].before);
		ck_assert_uint_eq(d->ours.count, rows[i].ours);
		for (size_t k = 0; k < d->before; k++) {
			ck_assert_int_eq(ours[k].action.kind,
					 theirs[k].action.kind);
			ck_assert_uint_eq(ours[k].action.addr,
					  theirs[k].action.addr);
		}
		ck_assert_int_eq(ours[d->before].action.kind, GP_SEGMENT_ALLOC);
		ck_assert_uint_eq(ours[d->before].event, d->event);
		ck_assert_int_ne(theirs[d->before].action.kind,
				 GP_SEGMENT_ALLOC);
	}
}
END_TEST

/* ---- an engine that, in its second run, does not report the last request
 * ---- */

static void (*hear)(void *arg, const struct gp_action *action);

static void hear_smaller(void *arg, const struct gp_action *action)
{
	if (action->size < 60 * MIB)
		hear(arg, action);
}

static enum gp_status create_forgetful(const struct gp_allocator_config *config,
				       struct gp_allocator **allocator,
				       struct gp_diag *diag)
{
	static unsigned made;
	struct gp_allocator_config own = *config;

	own.engine = gp_engine_find("caching");
	hear = config->action;
	if (made++ % 2)
		own.action = hear_smaller;
	return own.engine->create(&own, allocator, diag);
}

START_TEST(test_where_one_does_nothing_more_is_the_others_request)
{
	struct gp_engine forgetful = *gp_engine_find("caching");
	struct gp_verify_result result;

	forgetful.create = create_forgetful;
	result = verify((struct gp_verify_config){ .engine = &forgetful });
	ck_assert(result.first.is_there);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_ACTION);
	ck_assert_uint_eq(result.first.event, 3);
}
END_TEST

/* A request to a pool, with free blocks of other pools, one of them as
 * large. */
static const char in_a_pool[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 20971520}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 41943040}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 512}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"pool_begin\", \"pool\": [0, 1]}, "
		   "{\"op\": \"alloc\", \"id\": 3, \"size\": 20971520, "
		   "\"pool\": [0, 1]}");

START_TEST(test_blocks_that_it_could_have_taken_are_listed)
{
	uint64_t bytes = 70 * MIB;
	struct gp_verify_result result = verify_trace(
		in_a_pool, 15,
		(struct gp_verify_config){ .make_device = make_smaller,
					   .make_device_arg = &bytes });
	const struct gp_verify_side *ours = &result.first.ours;

	ck_assert_uint_eq(result.first.event, 5);
	ck_assert_uint_eq(ours->candidate_count, 1);
	ck_assert_uint_eq(ours->candidates[0].size, 20 * MIB);
	ck_assert_uint_eq(ours->candidates[0].segment_size, 20 * MIB);
}
END_TEST

/* Memory that is returned to the device is used by others, and obtained
 * again. */
static const char comes_and_goes[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 20971520}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 41943040}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"empty_cache\"}, "
		   "{\"op\": \"other_memory\", \"bytes\": 104857600}, "
		   "{\"op\": \"free\", \"id\": 1}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 901775360}, "
		   "{\"op\": \"alloc\", \"id\": 3, \"size\": 104857600}");

START_TEST(test_addresses_of_a_device_may_be_its_own)
{
	static const char *const traces[] = { three_blocks, comes_and_goes };
	static const char *const confs[] = { NULL, "expandable_segments:True" };
	const struct gp_torch_cuda own = { 0 };

	for (int i = 0; i < 4; i++) {
		struct gp_verify_config config = {
			.make_device = make_elsewhere,
			.conf = confs[i / 2],
		};

		ck_assert(
			verify_trace(traces[i % 2], 15, config).first.is_there);
		config.torch_cuda = &own;
		ck_assert(!verify_trace(traces[i % 2], 15, config)
				   .first.is_there);
	}
}
END_TEST

/* ---- an engine that acts differently in the second run ---- */

enum contrary { SWAPS, MISCOUNTS, REFUSES };

static enum contrary contrary;
static bool is_second;

/* The allocator that is being created; only one exists at a time. */
static struct {
	struct gp_allocator_config config;
	struct gp_allocator_ops ops;
	const struct gp_allocator_ops *plain;
	struct gp_stats stats;
	struct gp_action held;
} second;

static struct gp_device *make_second(void *arg, uint32_t ordinal,
				     uint64_t capacity)
{
	(void)arg;
	is_second = true;
	return gp_sim_create(ordinal, capacity);
}

/* Two neighbouring completions are exchanged. */
static void swap(void *arg, const struct gp_action *action)
{
	struct gp_action held = second.held;

	(void)arg;
	second.held = (struct gp_action){ 0 };
	if (action->kind == GP_FREE_COMPLETED && !held.size) {
		second.held = *action;
		return;
	}
	second.config.action(second.config.action_arg, action);
	if (held.size)
		second.config.action(second.config.action_arg, &held);
}

static const struct gp_stats *miscount(struct gp_allocator *allocator)
{
	second.stats = *second.plain->stats(allocator);
	if (second.stats.by_pool[GP_STAT_ALLOCATION][0].current == 3)
		second.stats.num_alloc_retries = 7;
	return &second.stats;
}

static enum gp_answer refuse(struct gp_allocator *allocator, double fraction)
{
	(void)allocator;
	(void)fraction;
	return GP_REFUSED_BY_RULE;
}

static const char *refusal(struct gp_allocator *allocator)
{
	(void)allocator;
	return "not today";
}

static enum gp_status create(const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag)
{
	struct gp_allocator_config own = *config;
	enum gp_status status;

	second.config = *config;
	if (is_second && contrary == SWAPS)
		own.action = swap;
	status = gp_engine_find("caching")->create(&own, allocator, diag);
	second.plain = (*allocator)->ops;
	second.ops = *second.plain;
	if (contrary == MISCOUNTS)
		second.ops.stats = miscount;
	if (contrary == REFUSES) {
		second.ops.set_fraction = refuse;
		second.ops.refusal = refusal;
	}
	if (is_second)
		(*allocator)->ops = &second.ops;
	is_second = false;
	return status;
}

static struct gp_verify_result differ(const char *text, uint8_t release,
				      enum contrary what)
{
	const struct gp_engine engine = { .name = "contrary",
					  .sentence = "It is contrary.",
					  .create = create };

	contrary = what;
	return verify_trace(
		text, release,
		(struct gp_verify_config){ .engine = &engine,
					   .make_device = make_second });
}

#define TWO_WAIT_FOR(stream)                                                   \
	"{\"op\": \"alloc\", \"id\": 0, \"size\": 20971520}, "                 \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520}, "                 \
	"{\"op\": \"record_stream\", \"id\": 0" stream "}, "                   \
	"{\"op\": \"record_stream\", \"id\": 1" stream "}, "                   \
	"{\"op\": \"free\", \"id\": 0}, {\"op\": \"free\", \"id\": 1}, "       \
	"{\"op\": \"synchronize\"}, {\"op\": \"alloc\", \"id\": 2, "           \
	"\"size\": 512}"
#define CAPTURE                                                                \
	", {\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 16}, "    \
	"{\"op\": \"capture_end\", \"pool\": [0, 1]}"

#define CAPTURE_FIRST                                                          \
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 16}, "      \
	"{\"op\": \"capture_end\", \"pool\": [0, 1]}, "

/* PyTorch iterates over these by the hash of a pointer, in some releases
 * always. */
START_TEST(test_the_order_of_completions_may_be_open)
{
	static const struct {
		const char *text;
		uint8_t release;
		bool is_open;
	} rows[] = {
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16")), 8, false },
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16")), 9, true },
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16")), 12, true },
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16")), 13, false },
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16") CAPTURE), 13,
		  true },
		{ ONE_DEVICE(TWO_WAIT_FOR(", \"stream\": 16") CAPTURE), 8,
		  false },
		{ ONE_DEVICE(CAPTURE_FIRST TWO_WAIT_FOR(", \"stream\": 16")),
		  13, true },
		{ ONE_DEVICE(TWO_WAIT_FOR("")), 8, true },
		{ ONE_DEVICE(TWO_WAIT_FOR("")), 13, true },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_verify_result result =
			differ(rows[i].text, rows[i].release, SWAPS);

		ck_assert_msg(result.first.is_there == !rows[i].is_open &&
				      result.permuted ==
					      (rows[i].is_open ? 2 : 0),
			      "row %zu: %llu permuted", i,
			      (unsigned long long)result.permuted);
	}
}
END_TEST

START_TEST(test_the_request_behind_which_a_counter_differs_is_found)
{
	struct gp_verify_result result =
		differ(ONE_DEVICE(TWO_WAIT_FOR(
			       ", \"stream\": 16") ", "
						   "{\"op\": \"alloc\", "
						   "\"id\": 3, \"size\": 512}, "
						   "{\"op\": \"alloc\", "
						   "\"id\": 4, \"size\": 512}"),
		       15, MISCOUNTS);

	ck_assert(result.first.is_there);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_COUNTER);
	ck_assert_uint_eq(result.first.event, 9);
	ck_assert_int_eq(result.first.theirs.stats.num_alloc_retries, 7);
	ck_assert_int_eq(result.first.ours.stats.num_alloc_retries, 0);
}
END_TEST

/* The blocks of its stream that are large enough, the smallest first; but not
 * the rest of the small segment, and not those of another stream. */
START_TEST(test_free_blocks_that_a_request_could_take_are_kept)
{
	struct gp_verify_result result = differ(
		ONE_DEVICE(
			"{\"op\": \"alloc\", \"id\": 0, \"size\": 41943040}, "
			"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520}, "
			"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520, "
			"\"stream\": 16}, "
			"{\"op\": \"free\", \"id\": 0}, "
			"{\"op\": \"free\", \"id\": 1}, "
			"{\"op\": \"free\", \"id\": 2}, "
			"{\"op\": \"alloc\", \"id\": 3, \"size\": 512}, "
			"{\"op\": \"alloc\", \"id\": 4, \"size\": 31457280}, "
			"{\"op\": \"alloc\", \"id\": 5, \"size\": 5242880}"),
		15, MISCOUNTS);
	const struct gp_verify_side *sides[] = { &result.first.ours,
						 &result.first.theirs };

	ck_assert_uint_eq(result.first.event, 8);
	for (int i = 0; i < 2; i++) {
		const struct gp_candidate *c = sides[i]->candidates;

		ck_assert_uint_eq(sides[i]->candidate_count, 2);
		ck_assert_uint_eq(c[0].size, 10 * MIB);
		ck_assert_uint_eq(c[0].segment_size, 40 * MIB);
		ck_assert_uint_eq(c[0].addr, c[0].segment_addr + 30 * MIB);
		ck_assert_uint_eq(c[1].size, 20 * MIB);
		ck_assert_uint_eq(c[1].addr, c[1].segment_addr);
	}
}
END_TEST

START_TEST(test_the_request_that_one_refuses_is_found)
{
	struct gp_verify_result result = differ(
		ONE_DEVICE(
			"{\"op\": \"alloc\", \"id\": 0, \"size\": 512}, "
			"{\"op\": \"set_memory_fraction\", \"fraction\": 1}, "
			"{\"op\": \"free\", \"id\": 0}"),
		15, REFUSES);

	ck_assert(result.first.is_there);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_ANSWER);
	ck_assert_uint_eq(result.first.event, 1);
	ck_assert_str_eq(result.first.theirs.refusal, "not today");
	ck_assert_str_eq(result.first.ours.refusal, "");
}
END_TEST

#define NUMBERS (sizeof(struct gp_stats) / sizeof(int64_t))

/* Each number of the statistics is reported once, by its own name. */
START_TEST(test_every_counter_has_a_name_of_its_own)
{
	union {
		struct gp_stats stats;
		int64_t numbers[NUMBERS];
	} all, none = { .numbers = { 0 } };
	char names[NUMBERS][64] = { "" }, name[64];
	int64_t ours, theirs;
	size_t count = 0;

	for (size_t i = 0; i < NUMBERS; i++)
		all.numbers[i] = (int64_t)i;
	for (; gp_verify_counter(count, name, sizeof(name), &all.stats,
				 &none.stats, &ours, &theirs);
	     count++) {
		ck_assert_int_eq(theirs, 0);
		ck_assert_str_eq(names[ours], "");
		snprintf(names[ours], sizeof(names[ours]), "%s", name);
	}
	ck_assert_uint_eq(count, NUMBERS);
	ck_assert_str_eq(
		names[all.stats.by_pool[GP_STAT_SEGMENT][GP_STAT_LARGE].peak],
		"segment.large_pool.peak");
	ck_assert_str_eq(names[all.stats.oversize_allocations.freed],
			 "oversize_allocations.freed");
	ck_assert_str_eq(names[all.stats.oversize_segments.current],
			 "oversize_segments.current");
	ck_assert_str_eq(names[all.stats.num_device_free], "num_device_free");
}
END_TEST

static struct gp_device *make_none(void *arg, uint32_t ordinal,
				   uint64_t capacity)
{
	(void)arg;
	(void)ordinal;
	(void)capacity;
	ck_abort_msg("the device was asked for");
}

START_TEST(test_what_does_not_fit_is_not_run)
{
	uint64_t bytes = 120 * MIB;
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_none, .room = 119 * MIB });

	ck_assert(result.is_too_large);
	ck_assert(!result.first.is_there);
	ck_assert_uint_eq(result.peak, 120 * MIB);
	/* Exactly enough. */
	result = verify((struct gp_verify_config){ .make_device = make_smaller,
						   .make_device_arg = &bytes,
						   .room = bytes });
	ck_assert(!result.is_too_large && !result.first.is_there);
	ck_assert_uint_eq(result.peak, bytes);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_device_that_has_enough_is_equal, 0 },
		{ test_a_device_that_runs_out_parts_there, 0 },
		{ test_what_both_did_around_the_difference_is_kept, 0 },
		{ test_where_one_does_nothing_more_is_the_others_request, 0 },
		{ test_blocks_that_it_could_have_taken_are_listed, 0 },
		{ test_addresses_of_a_device_may_be_its_own, 0 },
		{ test_the_order_of_completions_may_be_open, 0 },
		{ test_the_request_behind_which_a_counter_differs_is_found, 0 },
		{ test_free_blocks_that_a_request_could_take_are_kept, 0 },
		{ test_the_request_that_one_refuses_is_found, 0 },
		{ test_every_counter_has_a_name_of_its_own, 0 },
		{ test_what_does_not_fit_is_not_run, 0 },
	};

	return suite_run("verify_device", tests, COUNT_OF(tests));
}
