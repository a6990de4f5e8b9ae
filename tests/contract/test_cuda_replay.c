/* SPDX-License-Identifier: MIT */
/*
 * Replays with real memory, on the CUDA runtime without a device: they must do
 * the same as on the simulated device, and leave nothing behind.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_stand_in.h"
#include "played.h"
#include "trace_text.h"

/* ---- compared with the simulated device ---- */

/* What limits a run's memory: the given capacity, or the memory that exists. */
enum limit { PLANNED, REAL };

static struct gp_replay_result replay_on_cuda(struct gp_replay_config config,
					      enum limit limit)
{
	struct gp_replay_result result;
	struct gp_cuda *cuda;
	uint64_t before;

	simcuda_reset();
	simcuda_set_capacity(0, limit == REAL ? config.capacity : UINT64_MAX);
	if (limit == REAL)
		config.capacity = GP_UNLIMITED;
	cuda = opened();
	config.make_device = make;
	config.make_device_arg = cuda;
	before = free_memory();
	result = played(&config);
	ck_assert_uint_eq(free_memory(), before);
	gp_cuda_close(cuda);
	return result;
}

static void compare(const struct gp_replay_result *a,
		    const struct gp_replay_result *b, const char *path)
{
	ck_assert_msg(!memcmp(&a->stats, &b->stats, sizeof(a->stats)),
		      "%s: counters differ", path);
	ck_assert_msg(!memcmp(&a->calls, &b->calls, sizeof(a->calls)),
		      "%s: calls differ", path);
	ck_assert_msg(!memcmp(&a->timeline, &b->timeline, sizeof(a->timeline)),
		      "%s: memory over time differs", path);
	ck_assert_uint_eq(a->dropped, b->dropped);
	ck_assert_uint_eq(a->first_oom.event, b->first_oom.event);
	ck_assert_uint_eq(a->end.segment_count, b->end.segment_count);
	for (size_t i = 0; i < a->end.segment_count; i++) {
		ck_assert_uint_eq(a->end.segments[i].addr,
				  b->end.segments[i].addr);
		ck_assert_uint_eq(a->end.segments[i].size,
				  b->end.segments[i].size);
	}
}

static bool has_others(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_OTHER_MEMORY)
			return true;
	return false;
}

/* The memory for the start state must exist. */
static bool starts_within(const struct gp_device_trace *device, uint64_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < device->start.segment_count; i++)
		sum += device->start.segments[i].size + GP_DEVICE_GRAIN;
	return sum <= bytes;
}

static void compare_run(const struct gp_replay_config *config, const char *path)
{
	const struct gp_device_trace *device =
		&config->trace->devices[config->device];
	struct gp_replay_result sim, cuda;

	if (!starts_within(device, config->capacity))
		return;
	sim = played(config);
	for (int limit = PLANNED; limit <= REAL; limit++) {
		if (limit == REAL && has_others(device))
			continue;
		cuda = replay_on_cuda(*config, (enum limit)limit);
		compare(&sim, &cuda, path);
		gp_replay_release(&cuda);
	}
	gp_replay_release(&sim);
}

static void compare_device(const struct gp_trace *trace, uint32_t device,
			   const char *conf, const char *path)
{
	static const char *const engines[] = { "caching", "direct" };
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };
	struct gp_replay_config config = {
		.trace = trace,
		.device = device,
		.settings = &settings,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.capacity = gp_replay_capacity_of(trace, device),
	};

	gp_settings_init(&settings, trace->release.last);
	if (gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return;
	for (size_t i = 0; i < COUNT_OF(engines); i++) {
		config.engine = gp_engine_find(engines[i]);
		compare_run(&config, path);
	}
}

static size_t compare_all(const char *pattern)
{
	size_t done = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (; done < found.gl_pathc; done++) {
		struct gp_input_config config = {
			.path = found.gl_pathv[done]
		};
		struct gp_trace *trace = NULL;
		struct gp_diag diag = { 0 };

		ck_assert_int_eq(gp_input_read(&config, &trace, &diag), GP_OK);
		for (uint32_t i = 0; i < trace->device_count; i++) {
			compare_device(trace, i,
				       trace->settings ? trace->settings : "",
				       config.path);
			compare_device(trace, i, "expandable_segments:True",
				       config.path);
		}
		gp_trace_destroy(trace);
	}
	globfree(&found);
	return done;
}

START_TEST(test_small_traces_run_as_on_the_simulated_device)
{
	ck_assert_uint_ge(compare_all("traces/tiny/*.json"), 15);
}
END_TEST

START_TEST(test_recorded_traces_run_as_on_the_simulated_device)
{
	ck_assert_uint_ge(compare_all("traces/recorded/*.gz"), 2);
}
END_TEST

static const char two_blocks[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 4194304}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 12582919}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 100}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"alloc\", \"id\": 3, \"size\": 1048577}, "
		   "{\"op\": \"free\", \"id\": 1}");

/* ---- Ctrl-C ---- */

static int looks;

static bool comes_at_the_third(void)
{
	return ++looks == 3;
}

START_TEST(test_an_interrupted_run_gives_all_back)
{
	struct gp_trace *trace = trace_of(two_blocks);
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;

	config.capacity = 80 * GIB;
	config.is_interrupted = comes_at_the_third;
	result = replay_on_cuda(config, REAL);
	ck_assert(result.is_interrupted);
	ck_assert_uint_eq(result.allocs, 3);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_small_traces_run_as_on_the_simulated_device, 0 },
		{ test_recorded_traces_run_as_on_the_simulated_device, 0 },
		{ test_an_interrupted_run_gives_all_back, 0 },
	};

	return suite_run("cuda_replay", tests, COUNT_OF(tests));
}
