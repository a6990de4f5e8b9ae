/* SPDX-License-Identifier: MIT */
/*
 * The device with real memory, on the CUDA runtime without a device: its
 * answers and times, and whether the memory holds what is written.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda_stand_in.h"
#include "played.h"
#include "trace_text.h"

/* ---- memory used by others, and calls that fail ---- */

static struct gp_device *fresh(struct gp_cuda **cuda, uint64_t capacity)
{
	simcuda_reset();
	simcuda_set_capacity(0, capacity);
	*cuda = opened();
	return gp_cuda_device_create(*cuda, 0, GP_UNLIMITED);
}

static void drop(struct gp_device *device, struct gp_cuda *cuda)
{
	gp_device_destroy(device);
	gp_cuda_close(cuda);
}

START_TEST(test_memory_of_others_is_not_had)
{
	struct gp_cuda *cuda;
	struct gp_device *d = fresh(&cuda, 64 * MIB);
	uint64_t addr, free_bytes, total;
	struct gp_diag diag = { 0 };

	simcuda_set_other(0, 50 * MIB);
	ck_assert(!d->ops->malloc(d, 16 * MIB, &addr));
	d->ops->info(d, &free_bytes, &total);
	ck_assert_uint_eq(free_bytes, 14 * MIB);
	ck_assert_uint_eq(total, 64 * MIB);
	ck_assert(d->ops->malloc(d, 14 * MIB, &addr));
	ck_assert_uint_eq(addr, GP_SIM_BASE);
	ck_assert_int_eq(cudaPeekAtLastError(), cudaSuccess);
	ck_assert_int_eq(d->ops->health(d, &diag), GP_OK);
	ck_assert_uint_eq(d->calls.malloc_failed, 1);
	drop(d, cuda);
}
END_TEST

START_TEST(test_a_range_is_mapped_whole_or_not_at_all)
{
	struct gp_cuda *cuda;
	struct gp_device *d = fresh(&cuda, 50 * MIB);
	struct gp_diag diag = { 0 };
	uint64_t addr;

	ck_assert(d->ops->reserve(d, 200 * MIB, &addr));
	ck_assert(!d->ops->map(d, addr, 60 * MIB, 20 * MIB));
	ck_assert_uint_eq(free_memory(), 50 * MIB);
	ck_assert(d->ops->map(d, addr + 60 * MIB, 40 * MIB, 20 * MIB));
	ck_assert_uint_eq(free_memory(), 10 * MIB);
	d->ops->unmap(d, addr + 60 * MIB, 20 * MIB, 20 * MIB);
	ck_assert_uint_eq(free_memory(), 30 * MIB);
	ck_assert(d->ops->map(d, addr, 20 * MIB, 20 * MIB));
	ck_assert_int_eq(d->ops->health(d, &diag), GP_OK);
	drop(d, cuda);
	ck_assert_uint_eq(free_memory(), 50 * MIB);
}
END_TEST

/* The pages of a start state are in no reservation of this process. */
START_TEST(test_memory_of_a_start_state_is_taken_and_given_back)
{
	struct gp_cuda *cuda;
	struct gp_device *d = fresh(&cuda, 50 * MIB);
	const uint64_t block = 0x7f0000000000, pages = 0x7e0000000000;
	struct gp_diag diag = { 0 };

	d->ops->adopt(d, block, 3 * MIB, false);
	d->ops->adopt(d, pages, 20 * MIB, true);
	ck_assert_uint_eq(free_memory(), 26 * MIB);
	d->ops->unmap(d, pages, 20 * MIB, 20 * MIB);
	ck_assert(d->ops->map(d, pages + 20 * MIB, 20 * MIB, 20 * MIB));
	d->ops->free(d, block, 3 * MIB);
	ck_assert_uint_eq(free_memory(), 30 * MIB);
	ck_assert_int_eq(d->ops->health(d, &diag), GP_OK);
	d->ops->adopt(d, block, 60 * MIB, false);
	ck_assert_int_eq(d->ops->health(d, &diag), GP_SYSTEM);
	ck_assert_ptr_nonnull(strstr(diag.hint, "does not fit"));
	drop(d, cuda);
	ck_assert_uint_eq(free_memory(), 50 * MIB);
}
END_TEST

static int refuse(void)
{
	return cudaErrorInvalidValue;
}

START_TEST(test_a_call_that_fails_is_named)
{
	static const char *const calls[] = { "cudaMalloc", "cuMemCreate",
					     "cuMemMap", "cuMemSetAccess" };

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		struct gp_diag diag = { 0 };
		struct gp_cuda *cuda;
		struct gp_device *d;
		uint64_t addr;

		stand_in_own.name = calls[i];
		stand_in_own.own = (void *)refuse;
		d = fresh(&cuda, 64 * MIB);
		d->ops->malloc(d, MIB, &addr);
		ck_assert(d->ops->reserve(d, 40 * MIB, &addr));
		d->ops->map(d, addr, 40 * MIB, 20 * MIB);
		ck_assert_int_eq(d->ops->health(d, &diag), GP_SYSTEM);
		ck_assert_str_eq(diag.file, calls[i]);
		ck_assert_ptr_nonnull(
			strstr(diag.what, "cudaErrorInvalidValue (1) for "));
		drop(d, cuda);
		ck_assert_uint_eq(free_memory(), 64 * MIB);
	}
}
END_TEST

/* ---- time ---- */

START_TEST(test_calls_are_timed)
{
	struct gp_call_time times[GP_CALL_TIMES];
	struct gp_cuda *cuda;
	struct gp_device *d = fresh(&cuda, 64 * MIB);
	uint64_t addr, other;
	size_t n;

	ck_assert(d->ops->malloc(d, MIB, &addr));
	ck_assert(d->ops->malloc(d, MIB, &other));
	ck_assert(!d->ops->malloc(d, 100 * MIB, &other));
	d->ops->free(d, addr, MIB);
	n = d->ops->times(d, times, COUNT_OF(times));
	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq(times[0].call, "cudaMalloc");
	ck_assert_uint_eq(times[0].count, 2);
	ck_assert_double_eq_tol(times[0].total_us, 2, 1e-6);
	ck_assert_double_eq_tol(times[0].median_us, 1, 1e-6);
	ck_assert_str_eq(times[1].call, "cudaFree");
	ck_assert_str_eq(times[2].call, "cudaMalloc, refused");
	ck_assert_uint_eq(d->ops->times(d, times, 1), 3);
	drop(d, cuda);
}
END_TEST

/* ---- memory that holds what is written ---- */

/* Stands for the memory at the first device's addresses; a cudaMalloc that
 * hands out memory twice shifts the writes of every second block. */
#define HELD (64 * MIB)
static unsigned char *held;
static uint64_t lost_from; /* writes at and above this are lost */

static unsigned char *held_at(const void *device)
{
	uint64_t at = (uintptr_t)device - GP_SIM_BASE;

	ck_assert_uint_lt(at, HELD);
	return held + (lost_from && at >= lost_from ? at - lost_from : at);
}

static int set_held(void *at, int value, size_t size)
{
	memset(held_at(at), value, size);
	return 0;
}

static int copy_held(void *to, const void *from, size_t size, int kind)
{
	if (kind == CUDA_TO_DEVICE)
		memcpy(held_at(to), from, size);
	else
		memcpy(to, held_at(from), size);
	return 0;
}

static void *find_held(const char *name)
{
	if (!strcmp(name, "cudaMemset"))
		return (void *)set_held;
	if (!strcmp(name, "cudaMemcpy"))
		return (void *)copy_held;
	return stand_in_find(name);
}

static const char two_blocks[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 4194304}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 12582919}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 100}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"alloc\", \"id\": 3, \"size\": 1048577}, "
		   "{\"op\": \"free\", \"id\": 1}");

static struct gp_memory_check check_memory(void)
{
	struct gp_cuda_config config = { .find = find_held,
					 .now = stand_in_now };
	struct gp_trace *trace = trace_of(two_blocks);
	struct gp_settings settings;
	struct gp_replay_config replay = run_of(trace, &settings);
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	struct gp_cuda *cuda;

	simcuda_reset();
	held = calloc(HELD, 1);
	ck_assert_int_eq(gp_cuda_open(&config, &cuda, &diag), GP_OK);
	replay.make_device = make;
	replay.make_device_arg = cuda;
	replay.check_memory = true;
	result = played(&replay);
	gp_replay_release(&result);
	gp_cuda_close(cuda);
	gp_trace_destroy(trace);
	free(held);
	return result.memory;
}

START_TEST(test_blocks_are_read_as_written)
{
	struct gp_memory_check memory;

	lost_from = 0;
	memory = check_memory();
	ck_assert_uint_eq(memory.blocks, 4);
	ck_assert_uint_eq(memory.bytes, 4194304 + 12582919 + 100 + 1048577);
	ck_assert_uint_eq(memory.changed, 0);
}
END_TEST

/* The second segment has the same memory as the first. */
START_TEST(test_memory_that_two_blocks_have_is_found)
{
	struct gp_memory_check memory;

	lost_from = 20 * MIB;
	memory = check_memory();
	ck_assert_uint_ge(memory.changed, 1);
	ck_assert_uint_eq(memory.first_event, 0);
	ck_assert_uint_eq(memory.first_seen, 3);
	ck_assert_uint_eq(memory.first_size, 4194304);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_memory_of_others_is_not_had, 0 },
		{ test_a_range_is_mapped_whole_or_not_at_all, 0 },
		{ test_memory_of_a_start_state_is_taken_and_given_back, 0 },
		{ test_a_call_that_fails_is_named, 0 },
		{ test_calls_are_timed, 0 },
		{ test_blocks_are_read_as_written, 0 },
		{ test_memory_that_two_blocks_have_is_found, 0 },
	};

	return suite_run("cuda_device", tests, COUNT_OF(tests));
}
