/* SPDX-License-Identifier: MIT */
/*
 * What every engine must do. PyTorch's own engine is included if one is
 * prepared: in torch/ of the build, by make torch-engine.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "study/contract.h"
#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

/* ---- engines ---- */

static char torch_folder[512];
static uint8_t torch_release;

/* The last prepared engine by name, so that all runs use the same one; 2.0 has
 * no expandable segments. */
static void find_torch(const char *build)
{
	struct dirent **names;
	char path[600], release[32] = "";
	struct gp_diag ignored;
	int n;

	snprintf(path, sizeof(path), "%s/torch", build);
	n = scandir(path, &names, NULL, alphasort);
	for (int i = n; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/torch/%s/release", build,
			 names[i]->d_name);
		FILE *file = *torch_folder ? NULL : fopen(path, "r");

		if (file && fscanf(file, "%31s", release) == 1 &&
		    gp_release_parse(release, &torch_release, &ignored) ==
			    GP_OK)
			snprintf(torch_folder, sizeof(torch_folder),
				 "%s/torch/%s", build, names[i]->d_name);
		if (file)
			fclose(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static bool is_torch(const struct gp_engine *engine)
{
	return !strcmp(engine->name, "torch");
}

/* The driver's pool does not report segments. */
static bool tells_segments(const struct gp_engine *engine)
{
	return strcmp(engine->name, "async") != 0;
}

/* Engines that decide as PyTorch does, or ask the device for each request.
 * Others obtain memory as they like: as a heap of pages, for example. */
static bool has_two_segments(const struct gp_engine *engine)
{
	static const char *const names[] = { "caching", "torch", "direct",
					     "managed" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(engine->name, names[i]))
			return true;
	return false;
}

/* In a loop test of Check, _i is the engine's index. */
static const struct gp_engine *engine_of(int index)
{
	size_t count;

	return &gp_engine_table(&count)[index];
}

#define skip_unless_there(engine)                                              \
	do {                                                                   \
		if (is_torch(engine) && !*torch_folder)                        \
			skip_test("torch", "no engine is prepared: "           \
					   "make torch-engine");               \
		/* Engines of the host are tested by                           \
		 * tests/cli/host_engines.sh.                                  \
		 */                                                            \
		if (engine->needs && !is_torch(engine))                        \
			return;                                                \
	} while (0)

/* ---- runs ---- */

struct log {
	struct gp_action actions[256];
	uint64_t events[256];
	size_t count;
};

static void keep(void *arg, const struct gp_action *action, uint64_t event)
{
	struct log *log = arg;

	ck_assert_uint_lt(log->count, COUNT_OF(log->actions));
	log->events[log->count] = event;
	log->actions[log->count++] = *action;
}

static struct gp_replay_result run_under(const char *conf,
					 const struct gp_engine *engine,
					 const char *text, uint64_t capacity,
					 struct log *log)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_settings settings;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	struct gp_replay_config config = {
		.trace = trace,
		.settings = &settings,
		.engine = engine,
		.conf = conf,
		.torch_lib = is_torch(engine) ? torch_folder : NULL,
		.mode = GP_WHAT_IF,
		.capacity = capacity,
		.action = keep,
		.action_arg = log,
	};
	enum gp_status status;

	*log = (struct log){ 0 };
	gp_settings_init(&settings,
			 is_torch(engine) ? torch_release : GP_RELEASE_LAST);
	status = gp_settings_parse(&settings, conf, &diag);
	ck_assert_msg(status == GP_OK, "%s", diag.what);
	status = gp_replay(&config, &result, &diag);
	ck_assert_msg(status == GP_OK, "%s: %s", engine->name, diag.what);
	gp_trace_destroy(trace);
	return result;
}

static struct gp_replay_result run(const struct gp_engine *engine,
				   const char *text, uint64_t capacity,
				   struct log *log)
{
	return run_under("", engine, text, capacity, log);
}

static int64_t current(const struct gp_replay_result *result,
		       enum gp_stat_id id)
{
	return result->stats.by_pool[id][GP_STAT_ALL].current;
}

/* Blocks cover their segments, and their sums equal the counters. */
static void check_state(const struct gp_replay_result *result)
{
	const struct gp_state *s = &result->end;
	int64_t reserved = 0, active = 0;

	for (size_t i = 0; i < s->segment_count; i++) {
		uint64_t at = s->segments[i].addr;

		if (i)
			ck_assert_uint_gt(at, s->segments[i - 1].addr);
		for (uint32_t k = 0; k < s->segments[i].blocks; k++) {
			const struct gp_block *b =
				&s->blocks[s->segments[i].first_block + k];

			ck_assert_uint_eq(b->addr, at);
			ck_assert_int_eq(b->id == GP_NO_ID,
					 b->state == GP_INACTIVE);
			at += b->size;
			if (b->state != GP_INACTIVE)
				active += (int64_t)b->size;
		}
		ck_assert_uint_eq(at,
				  s->segments[i].addr + s->segments[i].size);
		reserved += (int64_t)s->segments[i].size;
	}
	ck_assert_int_eq(reserved, current(result, GP_STAT_RESERVED_BYTES));
	ck_assert_int_eq(active, current(result, GP_STAT_ACTIVE_BYTES));
}

static size_t count_of(const struct log *log, enum gp_event_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += log->actions[i].kind == kind;
	return n;
}

static void check_segments(const struct gp_engine *engine,
			   const struct log *log, enum gp_event_kind whole,
			   enum gp_event_kind part)
{
	if (has_two_segments(engine))
		ck_assert_uint_eq(count_of(log, whole), 2);
	ck_assert_int_eq(count_of(log, whole) + count_of(log, part) > 0,
			 tells_segments(engine));
}

/* ---- the contract ---- */

START_TEST(test_requests_are_told_with_their_ids)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result =
		run(engine,
		    ONE_DEVICE("{\"op\": \"alloc\", \"id\": 7, \"size\": 1000},"
			       "{\"op\": \"alloc\", \"id\": 9, \"size\": "
			       "3000000}, {\"op\": \"free\", \"id\": 7}"),
		    GP_UNLIMITED, &log);
	ck_assert_uint_eq(count_of(&log, GP_ALLOC), 2);
	ck_assert_uint_eq(count_of(&log, GP_FREE), 1);
	ck_assert_uint_eq(count_of(&log, GP_FREE_COMPLETED), 1);
	check_segments(engine, &log, GP_SEGMENT_ALLOC, GP_SEGMENT_MAP);
	for (size_t i = 0; i < log.count; i++)
		if (log.actions[i].kind == GP_ALLOC) {
			ck_assert_uint_eq(log.actions[i].id, log.events[i]);
			ck_assert_uint_eq(log.actions[i].size,
					  log.events[i] ? 3000000 : 1000);
		}
	ck_assert_int_eq(current(&result, GP_STAT_REQUESTED_BYTES), 3000000);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_no_memory_is_an_answer)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result =
		run(engine,
		    ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": "
			       "67108864}, {\"op\": \"free\", \"id\": 1}, "
			       "{\"op\": \"alloc\", \"id\": 2, \"size\": 512}"),
		    32 * MIB, &log);
	ck_assert_int_eq(result.stats.num_ooms, !engine->beyond);
	ck_assert_uint_eq(result.dropped, !engine->beyond);
	ck_assert_int_eq(result.first_oom.is_there, !engine->beyond);
	ck_assert_uint_eq(count_of(&log, GP_OOM), !engine->beyond);
	ck_assert_uint_eq(count_of(&log, GP_FREE), !!engine->beyond);
	ck_assert_uint_eq(count_of(&log, GP_ALLOC), 2 - !engine->beyond);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_nothing_is_served_with_nothing)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 0},"
				"{\"op\": \"free\", \"id\": 1}"),
		     GP_UNLIMITED, &log);
	ck_assert_uint_eq(log.count, 0);
	ck_assert_uint_eq(result.dropped, 0);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_memory_comes_back)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result =
		run(engine,
		    ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1000},"
			       "{\"op\": \"alloc\", \"id\": 2, \"size\": "
			       "50000000}, {\"op\": \"free\", \"id\": 2},"
			       "{\"op\": \"free\", \"id\": 1},"
			       "{\"op\": \"empty_cache\"}"),
		    GP_UNLIMITED, &log);
	if (engine->keeps) {
		gp_replay_release(&result);
		return;
	}
	ck_assert_int_eq(current(&result, GP_STAT_RESERVED_BYTES), 0);
	ck_assert_uint_eq(result.end.segment_count, 0);
	check_segments(engine, &log, GP_SEGMENT_FREE, GP_SEGMENT_UNMAP);
	ck_assert_uint_eq(result.calls.malloc, result.calls.free);
	ck_assert_uint_eq(result.calls.map, result.calls.unmap);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_other_streams_and_pools)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(
		engine,
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1000, "
			   "\"stream\": 4112}, {\"op\": \"record_stream\", "
			   "\"id\": 1, \"stream\": 4128}, {\"op\": \"free\", "
			   "\"id\": 1}, {\"op\": \"synchronize\"},"
			   "{\"op\": \"pool_begin\", \"pool\": [0, 1]}, "
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 2000}, "
			   "{\"op\": \"pool_end\", \"pool\": [0, 1]}, {\"op\": "
			   "\"alloc\", \"id\": 3, \"size\": 4000}"),
		GP_UNLIMITED, &log);
	ck_assert_uint_eq(count_of(&log, GP_ALLOC), 3);
	ck_assert_uint_eq(count_of(&log, GP_FREE_COMPLETED), 1);
	ck_assert_uint_eq(result.refused, 0);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_addresses_are_the_devices)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     "{\"format\": \"gpupool-trace\", \"version\": 1, "
		     "\"devices\": [{\"device\": 3, \"events\": [{\"op\": "
		     "\"alloc\", \"id\": 1, \"size\": 20971520}]}]}",
		     GP_UNLIMITED, &log);
	ck_assert_uint_ge(log.count, 1);
	ck_assert_uint_eq(log.actions[0].addr,
			  log.actions[0].kind == GP_SEGMENT_MAP
				  ? GP_SIM_RESERVE_BASE
				  : GP_SIM_BASE + (UINT64_C(3) << 40));
	gp_replay_release(&result);
}
END_TEST

/* Three pages, and another one after them. */
START_TEST(test_access_is_set_once_for_pages_mapped_at_once)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	if (is_torch(engine) && torch_release < 1)
		skip_test("torch", "2.0 has no expandable segments");
	result = run_under("expandable_segments:True", engine,
			   "{\"format\": \"gpupool-trace\", \"version\": 1, "
			   "\"devices\": [{\"device\": 0, \"total_memory\": "
			   "1073741824, \"events\": [{\"op\": \"alloc\", "
			   "\"id\": 1, \"size\": 62914560}, {\"op\": "
			   "\"alloc\", \"id\": 2, \"size\": 20971520}]}]}",
			   1 << 30, &log);
	ck_assert_uint_eq(result.calls.access, count_of(&log, GP_SEGMENT_MAP));
	if (has_two_segments(engine)) /* its pages have 20 MiB */
		ck_assert_uint_eq(result.calls.map, 2 * result.calls.access);
	gp_replay_release(&result);
}
END_TEST

/* 64 TiB so many times that sums would pass 2^63: they stop at the largest
 * number. */
START_TEST(test_sums_of_sizes_do_not_overflow)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_device *device;
	const uint64_t stream = 0;
	const struct gp_pool_id pool = { 0, 0 };
	struct gp_settings settings;
	struct gp_allocator_config config = {
		.engine = engine,
		.settings = &settings,
		.streams = &stream,
		.stream_count = 1,
		.pools = &pool,
		.pool_count = 1,
		.block_ids = 1,
	};
	struct gp_allocator *allocator;
	struct gp_diag diag = { 0 };
	const struct gp_stat *bytes;
	uint64_t addr;

	skip_unless_there(engine);
	if (is_torch(engine))
		skip_test("torch", "its counters are PyTorch's");
	if (!strcmp(engine->name, "bfc"))
		skip_test("bfc", "its limit is what the device says it has");
	config.device = device = gp_sim_create(0, GP_UNLIMITED);
	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(engine->create(&config, &allocator, &diag), GP_OK);
	for (int i = 0; i < 3 << 16; i++) {
		ck_assert_int_eq(allocator->ops->alloc(allocator, 0,
						       UINT64_C(1) << 46, 0, 0,
						       &addr),
				 GP_SERVED);
		allocator->ops->free(allocator, 0);
	}
	bytes = allocator->ops->stats(allocator)
			->by_pool[GP_STAT_ALLOCATED_BYTES];
	ck_assert_int_eq(bytes[GP_STAT_ALL].allocated, INT64_MAX);
	ck_assert_int_eq(bytes[GP_STAT_ALL].freed, INT64_MAX);
	ck_assert_int_eq(bytes[GP_STAT_ALL].current, 0);
	allocator->ops->destroy(allocator);
	gp_device_destroy(device);
}
END_TEST

static uint64_t largest_in(struct gp_allocator *allocator)
{
	struct gp_state state;
	uint64_t largest = 0;

	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.block_count; i++)
		if (state.blocks[i].state == GP_INACTIVE &&
		    state.blocks[i].size > largest)
			largest = state.blocks[i].size;
	gp_state_release(&state);
	return largest;
}

/* An engine that has a shortcut to its largest free block reports the same
 * block as in its state. */
static void expect_largest(struct gp_allocator *allocator)
{
	struct gp_rng rng = { 1 };
	bool is_live[64] = { false };
	uint64_t addr;

	for (int i = 0; i < 4000; i++) {
		uint32_t id = (uint32_t)gp_rng_below(&rng, COUNT_OF(is_live));
		uint64_t size = gp_rng_below(&rng, 30 * MIB);

		if (is_live[id])
			allocator->ops->free(allocator, id);
		else
			allocator->ops->alloc(allocator, id, size + 1, 0, 0,
					      &addr);
		is_live[id] ^= true;
		if (i % 500 == 499 && allocator->ops->empty_cache)
			allocator->ops->empty_cache(allocator, 0);
		ck_assert_uint_eq(allocator->ops->largest_free(allocator),
				  largest_in(allocator));
	}
}

/* Others may have free blocks next to each other: two buddies are two
 * blocks. */
static bool has_free_blocks_between(const struct gp_engine *engine)
{
	return has_two_segments(engine) || !tells_segments(engine) ||
	       !strcmp(engine->name, "pinned");
}

START_TEST(test_largest_free_block_is_in_its_state)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_device *device;
	const uint64_t stream = 0;
	const struct gp_pool_id pool = { 0, 0 };
	struct gp_settings settings;
	struct gp_allocator_config config = {
		.engine = engine,
		.settings = &settings,
		.streams = &stream,
		.stream_count = 1,
		.pools = &pool,
		.pool_count = 1,
		.block_ids = 64,
	};
	struct gp_allocator *allocator;
	struct gp_diag diag = { 0 };

	if (engine->needs || !has_free_blocks_between(engine))
		return;
	config.device = device = gp_sim_create(0, GP_UNLIMITED);
	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(engine->create(&config, &allocator, &diag), GP_OK);
	if (allocator->ops->largest_free)
		expect_largest(allocator);
	allocator->ops->destroy(allocator);
	gp_device_destroy(device);
}
END_TEST

/* The checks of gpupool check-engine. */
START_TEST(test_promises_are_kept)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_promise promises[GP_PROMISES];

	skip_unless_there(engine);
	if (is_torch(engine) && torch_release != GP_RELEASE_LAST)
		skip_test("torch", "the engine is of another release");
	gp_contract_try(
		&(struct gp_contract_config){
			.engine = engine,
			.torch_lib = is_torch(engine) ? torch_folder : NULL,
		},
		promises);
	for (size_t i = 0; i < GP_PROMISES; i++)
		ck_assert_msg(promises[i].is_kept, "%s: %s: %s", engine->name,
			      promises[i].sentence, promises[i].note);
}
END_TEST

/* ---- what programs rarely do ---- */

/* "alloc ID SIZE; use ID STREAM; free ID; ..." as events. */
static const char *const words[][2] = {
	{ "alloc", "{\"op\": \"alloc\", \"id\": %s, \"size\": %s}" },
	{ "free", "{\"op\": \"free\", \"id\": %s}" },
	{ "use", "{\"op\": \"record_stream\", \"id\": %s, \"stream\": %s}" },
	{ "somewhere", "{\"op\": \"record_stream\", \"id\": %s}" },
	{ "stream", "{\"op\": \"synchronize\", \"stream\": %s}" },
	{ "block", "{\"op\": \"synchronize\", \"id\": %s}" },
	{ "all", "{\"op\": \"synchronize\"}" },
	{ "fraction", "{\"op\": \"set_memory_fraction\", \"fraction\": %s}" },
	{ "peak", "{\"op\": \"reset_peak_stats\"}" },
	{ "accumulated", "{\"op\": \"reset_accumulated_stats\"}" },
	{ "empty", "{\"op\": \"empty_cache\"}" },
	{ "work", "{\"op\": \"alloc\", \"id\": %s, \"size\": 1000, "
		  "\"stream\": %s}" },
	{ "capture", "{\"op\": \"capture_begin\", \"pool\": [0, %s], "
		     "\"stream\": %s}" },
	{ "end", "{\"op\": \"capture_end\", \"pool\": [0, %s]}" },
	{ "release", "{\"op\": \"pool_release\", \"pool\": [0, %s]}" },
	{ "settings",
	  "{\"op\": \"set_allocator_settings\", \"conf\": \"%s\"}" },
};

/* Their trace, on a device of 1 GiB; start: a key of the device, or "". */
static const char *trace_from(const char *start, const char *events)
{
	static char text[4096];
	char word[16], first[64], second[64];
	size_t n = (size_t)snprintf(
		text, sizeof(text),
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"total_memory\": 1073741824, %s"
		"\"events\": [",
		start);

	for (const char *at = events; at; at = strchr(at, ';')) {
		at += *at == ';';
		sscanf(at, " %15[a-z] %63[^ ;] %63[^ ;]", word, first, second);
		for (size_t i = 0; i < COUNT_OF(words); i++)
			if (!strcmp(words[i][0], word))
				n += (size_t)snprintf(
					text + n, sizeof(text) - n, words[i][1],
					first, second);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
				      strchr(at, ';') ? "," : "]}]}");
	}
	return text;
}

/* Which of the optional functions it has. */
static const struct gp_allocator_ops *ops_of(const struct gp_engine *engine)
{
	const uint64_t stream = 0;
	const struct gp_pool_id pool = { 0, 0 };
	struct gp_settings settings;
	struct gp_allocator_config config = {
		.engine = engine,
		.settings = &settings,
		.torch_lib = is_torch(engine) ? torch_folder : NULL,
		.device = gp_sim_create(0, GP_UNLIMITED),
		.streams = &stream,
		.stream_count = 1,
		.pools = &pool,
		.pool_count = 1,
	};
	const struct gp_allocator_ops *ops;
	struct gp_allocator *allocator;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings,
			 is_torch(engine) ? torch_release : GP_RELEASE_LAST);
	ck_assert_int_eq(engine->create(&config, &allocator, &diag), GP_OK);
	ops = allocator->ops;
	ops->destroy(allocator);
	gp_device_destroy(config.device);
	return ops;
}

static const struct gp_stat *allocated(const struct gp_replay_result *result)
{
	return &result->stats.by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL];
}

START_TEST(test_counters_begin_anew)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "alloc 1 30000000; free 1; peak;"
				    "accumulated; alloc 2 3000000"),
		     GP_UNLIMITED, &log);
	ck_assert_int_ge(allocated(&result)->current, 3000000);
	ck_assert_int_lt(allocated(&result)->current, 30000000);
	if (ops_of(engine)->reset_peak)
		ck_assert_int_eq(allocated(&result)->peak,
				 allocated(&result)->current);
	if (ops_of(engine)->reset_accumulated) {
		ck_assert_int_eq(allocated(&result)->allocated,
				 allocated(&result)->current);
		ck_assert_int_eq(allocated(&result)->freed, 0);
	}
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_all_that_was_counted_is_forgotten)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	if (!ops_of(engine)->reset_accumulated)
		return;
	result = run(engine,
		     trace_from("", "alloc 1 30000000; alloc 2 1000;"
				    "free 1; free 2; accumulated"),
		     GP_UNLIMITED, &log);
	for (int id = 0; id < GP_STAT_COUNT; id++)
		for (int kind = 0; kind < 3; kind++) {
			struct gp_stat *s = &result.stats.by_pool[id][kind];

			ck_assert_int_eq(s->allocated | s->freed, 0);
		}
	ck_assert_int_eq(result.stats.num_device_alloc |
				 result.stats.num_device_free,
			 0);
	gp_replay_release(&result);
}
END_TEST

/* Half of the device, then more than all of it, which is not a valid
 * fraction. */
START_TEST(test_fraction_is_a_limit)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "fraction 0.5; alloc 1 629145600; free 1;"
				    "fraction 2; alloc 2 629145600; free 2;"
				    "fraction 1; alloc 3 629145600"),
		     1 << 30, &log);
	ck_assert_int_eq(result.stats.num_ooms,
			 ops_of(engine)->set_fraction ? 2 : 0);
	ck_assert_uint_eq(result.dropped, result.stats.num_ooms);
	ck_assert_int_ge(allocated(&result)->current, 629145600);
	gp_replay_release(&result);
}
END_TEST

/* The event after which a block was free, or SIZE_MAX. */
static size_t completed_by(const struct log *log, uint32_t id)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->actions[i].kind == GP_FREE_COMPLETED &&
		    log->actions[i].id == id)
			return log->events[i];
	return SIZE_MAX;
}

/* If the free itself does not wait, as cudaFree does. Allocators check at the
 * next request whether the work is complete. */
START_TEST(test_a_block_waits_for_each_stream)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "alloc 1 1000; use 1 16; use 1 32; free 1;"
				    "stream 16; alloc 2 1000;"
				    "stream 32; alloc 3 1000"),
		     GP_UNLIMITED, &log);
	if (completed_by(&log, 0) != 3) {
		ck_assert_uint_ge(completed_by(&log, 0), 6);
		ck_assert_uint_le(completed_by(&log, 0), 7);
	}
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

START_TEST(test_a_wait_for_one_block_frees_it)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "alloc 1 1000; use 1 16;"
				    "alloc 2 1000; use 2 32; free 1; free 2;"
				    "block 1; alloc 3 1000"),
		     GP_UNLIMITED, &log);
	ck_assert_uint_le(completed_by(&log, 0), 7);
	ck_assert_uint_eq(completed_by(&log, 1),
			  completed_by(&log, 0) == 4 ? 5 : SIZE_MAX);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

/* Nothing is known about the stream of the use, so nothing is known about
 * others' work on it. */
START_TEST(test_a_wait_for_one_block_frees_no_other)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "work 1 16; use 1 0; alloc 2 1000;"
				    "somewhere 2; free 1; free 2; block 2;"
				    "work 3 16"),
		     GP_UNLIMITED, &log);
	if (completed_by(&log, 0) != 4)
		ck_assert_uint_eq(completed_by(&log, 0), SIZE_MAX);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

/* A block in use, one that is pending free for another stream, and free
 * memory. */
#define START                                                                  \
	"\"start\": {\"segments\": [{\"address\": 1073741824, "                \
	"\"total_size\": 20971520, \"blocks\": ["                              \
	"{\"size\": 8388608, \"state\": \"active_allocated\", \"id\": 1}, "    \
	"{\"size\": 4194304, \"state\": \"active_pending_free\"}, "            \
	"{\"size\": 8388608, \"state\": \"inactive\"}]}]}, "

START_TEST(test_a_start_is_given_back)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	if (is_torch(engine)) /* which refuses it, see below */
		return;
	result = run(engine, trace_from(START, "free 1; all; alloc 2 1000"),
		     GP_UNLIMITED, &log);
	ck_assert_int_ge(allocated(&result)->peak, 8388608);
	ck_assert_int_eq(current(&result, GP_STAT_ACTIVE), 1);
	ck_assert_int_eq(current(&result, GP_STAT_REQUESTED_BYTES), 1000);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

/* Captured blocks have a private pool, which is released when no graph needs it
 * any more; two graphs may be captured one after another. */
START_TEST(test_a_graphs_pool_goes_back)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	if (is_torch(engine) && torch_release < 3)
		skip_test("torch", "a capture is told by its pool before 2.3");
	result = run(engine,
		     trace_from("", "capture 1 16; work 1 16; end 1;"
				    "capture 2 16; work 2 16; end 2;"
				    "work 3 16; free 1; free 2; empty;"
				    "release 1; release 2; empty"),
		     GP_UNLIMITED, &log);
	ck_assert_uint_eq(result.refused, 0);
	ck_assert_int_eq(current(&result, GP_STAT_REQUESTED_BYTES), 1000);
	for (size_t i = 0; i < result.end.segment_count && !engine->keeps; i++)
		ck_assert_uint_eq(result.end.segments[i].pool, 0);
	check_state(&result);
	gp_replay_release(&result);
}
END_TEST

/* Settings that an engine does not use do not affect it. */
START_TEST(test_settings_change_while_it_runs)
{
	const struct gp_engine *engine = engine_of(_i);
	struct gp_replay_result result;
	struct log log;

	skip_unless_there(engine);
	result = run(engine,
		     trace_from("", "alloc 1 1000; settings "
				    "max_split_size_mb:64; alloc 2 1000;"
				    "settings no_such_thing:1; alloc 3 1000"),
		     GP_UNLIMITED, &log);
	ck_assert_uint_eq(count_of(&log, GP_ALLOC), 3);
	ck_assert_uint_le(result.refused, 1);
	ck_assert_int_eq(current(&result, GP_STAT_REQUESTED_BYTES), 3000);
	gp_replay_release(&result);
}
END_TEST

/* Engines that place the blocks of a start state again may have no room for
 * them. */
START_TEST(test_a_start_that_does_not_fit)
{
	const struct gp_engine *engine = engine_of(_i);
	const char *why = is_torch(engine)
				  ? "PyTorch's allocator cannot begin from a "
				    "recorded state"
				  : "the memory that the trace begins with "
				    "does not fit";
	struct gp_settings settings;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	struct gp_replay_config config = {
		.settings = &settings,
		.engine = engine,
		.torch_lib = is_torch(engine) ? torch_folder : NULL,
		.mode = GP_WHAT_IF,
		.capacity = 8 * MIB - 1,
	};
	struct gp_trace *trace;

	skip_unless_there(engine);
	config.trace = trace = trace_of(trace_from(START, "free 1"));
	gp_settings_init(&settings,
			 is_torch(engine) ? torch_release : GP_RELEASE_LAST);
	if (gp_replay(&config, &result, &diag) == GP_OK) {
		ck_assert(!is_torch(engine));
		gp_replay_release(&result);
	} else {
		ck_assert_str_eq(diag.what, why);
	}
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_requests_are_told_with_their_ids,
		test_no_memory_is_an_answer,
		test_nothing_is_served_with_nothing,
		test_memory_comes_back,
		test_other_streams_and_pools,
		test_addresses_are_the_devices,
		test_access_is_set_once_for_pages_mapped_at_once,
		test_sums_of_sizes_do_not_overflow,
		test_largest_free_block_is_in_its_state,
		test_promises_are_kept,
		test_counters_begin_anew,
		test_all_that_was_counted_is_forgotten,
		test_fraction_is_a_limit,
		test_a_block_waits_for_each_stream,
		test_a_wait_for_one_block_frees_it,
		test_a_wait_for_one_block_frees_no_other,
		test_a_start_is_given_back,
		test_a_start_that_does_not_fit,
		test_a_graphs_pool_goes_back,
		test_settings_change_while_it_runs,
	};
	const char *build = getenv("BUILD");
	TCase *tcase = tcase_create("engine");
	size_t engines;

	if (build)
		find_torch(build);
	if (!*torch_folder)
		find_torch("build");
	gp_engine_table(&engines);
	for (size_t i = 0; i < COUNT_OF(tests); i++)
		tcase_add_loop_test(tcase, tests[i], 0, (int)engines);
	return suite_play("engine", tcase);
}
