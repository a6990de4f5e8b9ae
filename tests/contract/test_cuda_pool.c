/* SPDX-License-Identifier: MIT */
/*
 * cudaMallocAsync and cudaMallocManaged, on the CUDA runtime without a device.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda_stand_in.h"
#include "played.h"
#include "trace_text.h"

/* ---- cudaMallocAsync and cudaMallocManaged ---- */

static const char two_streams[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	"[{\"device\": 0, \"events\": ["
	"{\"op\": \"alloc\", \"id\": 0, \"size\": 4194304},"
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 6291456, \"stream\": 4112},"
	"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 4128},"
	"{\"op\": \"record_stream\", \"id\": 1, \"stream\": 4144},"
	"{\"op\": \"free\", \"id\": 1}, {\"op\": \"synchronize\"},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 67108864},"
	"{\"op\": \"empty_cache\"}]}]}";

static struct gp_replay_result play(const char *engine,
				    const struct gp_pool_settings *settings,
				    struct gp_cuda *cuda)
{
	struct gp_trace *trace = trace_of(two_streams);
	struct gp_settings knobs;
	struct gp_replay_config config = {
		.trace = trace,
		.settings = &knobs,
		.engine = gp_engine_find(engine),
		.mode = GP_WHAT_IF,
		.capacity = 64 * MIB,
		.pool_settings = settings,
		.make_device = make,
		.make_device_arg = cuda,
	};
	struct gp_replay_result result;

	gp_settings_init(&knobs, 15);
	result = played(&config);
	gp_trace_destroy(trace);
	return result;
}

static uint64_t threshold(void)
{
	cudaMemPool_t pool;
	uint64_t bytes = 0;

	ck_assert_int_eq(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
	ck_assert_int_eq(cudaMemPoolGetAttribute(
				 pool, cudaMemPoolAttrReleaseThreshold, &bytes),
			 cudaSuccess);
	return bytes;
}

static uint64_t threshold_told;

static int tell_threshold(void *pool, int attribute, void *value)
{
	if (attribute == CUDA_POOL_THRESHOLD && !threshold_told)
		threshold_told = *(const uint64_t *)value;
	return cudaMemPoolSetAttribute(pool, attribute, value);
}

START_TEST(test_a_pool_is_used_as_asked_and_left_as_found)
{
	const struct gp_pool_settings settings = { .threshold = 3 * MIB };
	struct gp_replay_result result;
	struct gp_cuda *cuda;

	simcuda_reset();
	stand_in_own.name = "cudaMemPoolSetAttribute";
	stand_in_own.own = (void *)tell_threshold;
	cuda = opened();
	result = play("async", &settings, cuda);
	ck_assert_uint_eq(threshold_told, 3 * MIB);
	ck_assert_uint_eq(threshold(), 0);
	ck_assert_uint_eq(free_memory(), 80 * GIB);
	/* A block with uses on two other streams is freed after both. */
	ck_assert_uint_eq(simcuda_calls("cudaStreamWaitEvent"), 2);
	ck_assert_uint_eq(simcuda_calls("cudaMallocAsync"), 2);
	ck_assert_uint_eq(simcuda_calls("cudaFreeAsync"), 2);
	ck_assert_uint_eq(simcuda_calls("cudaMemPoolTrimTo"), 2);
	ck_assert_uint_eq(simcuda_calls("cudaStreamCreateWithFlags"),
			  simcuda_calls("cudaStreamDestroy"));
	ck_assert_int_eq(result.stats.num_ooms, 1);
	ck_assert_int_eq(result.stats.by_pool[GP_STAT_RESERVED_BYTES][0].peak,
			 10 * MIB);
	gp_replay_release(&result);
	gp_cuda_close(cuda);
}
END_TEST

static int managed(void **pointer, size_t size, unsigned flags)
{
	ck_assert_uint_eq(flags, CUDA_ATTACH_GLOBAL);
	return cudaMalloc(pointer, size);
}

/* Requests beyond the device's memory are served. */
START_TEST(test_managed_memory_goes_beyond_the_device)
{
	struct gp_replay_result result;
	struct gp_cuda *cuda;

	simcuda_reset();
	stand_in_own.name = "cudaMallocManaged";
	stand_in_own.own = (void *)managed;
	cuda = opened();
	result = play("managed", NULL, cuda);
	ck_assert_int_eq(result.stats.num_ooms, 0);
	ck_assert_uint_eq(result.time_count, 3);
	ck_assert_str_eq(result.times[0].call, "cudaFree");
	ck_assert_str_eq(result.times[1].call, "cudaMallocManaged");
	ck_assert_uint_eq(result.times[1].count, 3);
	ck_assert_str_eq(result.times[2].call, "cudaMemset, first touch");
	ck_assert_uint_eq(free_memory(), 80 * GIB);
	gp_replay_release(&result);
	gp_cuda_close(cuda);
}
END_TEST

START_TEST(test_a_runtime_without_managed_memory_is_named)
{
	struct gp_trace *trace = trace_of(two_streams);
	struct gp_settings knobs;
	struct gp_replay_config config = run_of(trace, &knobs);
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	simcuda_reset();
	config.engine = gp_engine_find("managed");
	config.make_device = make;
	config.make_device_arg = opened();
	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_SYSTEM);
	ck_assert_str_eq(diag.file, "cudaMallocManaged");
	gp_replay_release(&result);
	gp_cuda_close(config.make_device_arg);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_pool_is_used_as_asked_and_left_as_found, 0 },
		{ test_managed_memory_goes_beyond_the_device, 0 },
		{ test_a_runtime_without_managed_memory_is_named, 0 },
	};

	return suite_run("cuda_pool", tests, COUNT_OF(tests));
}
