/* SPDX-License-Identifier: MIT */
/* The CUDA runtime without a device: copies, the bytes that are kept of them,
 * host memory, and how long work takes. */
#include <stdlib.h>
#include <string.h>

#include "gpupool/device.h"
#include "simcuda/simcuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "simcuda/kept.h"
#include "suite.h"

#define MIB (UINT64_C(1) << 20)

static char *allocated(size_t size)
{
	void *pointer = NULL;

	ck_assert_int_eq(cudaMalloc(&pointer, size), cudaSuccess);
	return pointer;
}

static void to_device(char *device, const void *bytes, size_t size)
{
	ck_assert_int_eq(
		cudaMemcpy(device, bytes, size, cudaMemcpyHostToDevice),
		cudaSuccess);
}

static void assert_on_device(const char *device, const void *bytes, size_t size)
{
	char *copy = malloc(size);

	memset(copy, 1, size);
	ck_assert_int_eq(cudaMemcpyAsync(copy, device, size,
					 cudaMemcpyDeviceToHost, NULL),
			 cudaSuccess);
	ck_assert_mem_eq(copy, bytes, size);
	free(copy);
}

START_TEST(test_small_copies_keep_their_bytes)
{
	char bytes[5000];
	char *device, *other;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	simcuda_reset();
	device = allocated(MIB) + 100;
	other = allocated(MIB);
	to_device(device, bytes, sizeof(bytes));
	assert_on_device(device, bytes, sizeof(bytes));
	assert_on_device(device + 1000, bytes + 1000, 24);
	cudaMemcpy(other, device + 1000, 24, cudaMemcpyDeviceToDevice);
	assert_on_device(other, bytes + 1000, 24);
}
END_TEST

START_TEST(test_large_copies_come_back_as_zeros)
{
	static const char zeros[KEPT_MOST + 1];
	static char bytes[KEPT_MOST + 1];
	char *device;

	memset(bytes, 5, sizeof(bytes));
	simcuda_reset();
	device = allocated(2 * MIB);
	to_device(device, bytes, 10);
	to_device(device, bytes, sizeof(bytes));
	assert_on_device(device, zeros, sizeof(zeros));
	assert_on_device(device, zeros, 10);
}
END_TEST

START_TEST(test_memory_that_is_used_anew_is_zeros)
{
	static const char zeros[10];
	char *device, *same;

	simcuda_reset();
	device = allocated(MIB);
	to_device(device, "some text", 10);
	cudaFree(device);
	same = allocated(MIB);
	ck_assert_ptr_eq(device, same);
	assert_on_device(same, zeros, sizeof(zeros));
}
END_TEST

START_TEST(test_part_of_what_is_kept_is_forgotten)
{
	uint64_t at = UINT64_C(7) * 2 * MIB - 300;
	char bytes[600], read[600];

	memset(bytes, 3, sizeof(bytes));
	kept_forget_all();
	kept_write(at, bytes, sizeof(bytes));
	kept_forget(at + 10, 580);
	memset(bytes + 10, 0, 580);
	kept_read(at, read, sizeof(read));
	ck_assert_mem_eq(read, bytes, sizeof(read));
	kept_forget(0, UINT64_C(1) << 40);
	kept_read(at, read, sizeof(read));
	memset(bytes, 0, sizeof(bytes));
	ck_assert_mem_eq(read, bytes, sizeof(read));
	kept_forget_all();
}
END_TEST

/* More bytes than can be kept: the last ones remain, and so do small ranges
 * beside the first. */
START_TEST(test_the_oldest_of_what_is_large_is_forgotten_first)
{
	static char bytes[KEPT_MOST], read[KEPT_MOST];
	const uint64_t most = kept_limits()->most_of_all / KEPT_MOST + 16;
	uint64_t at = (UINT64_C(1) << 40) + 512;

	kept_forget_all();
	memset(bytes, 7, sizeof(bytes));
	kept_write(at - 512, "small", 6);
	for (uint64_t i = 0; i < most; i++)
		kept_write(at + i * KEPT_MOST, bytes, sizeof(bytes));
	ck_assert(kept_has(at - 512, 6));
	ck_assert(!kept_has_any(at, KEPT_MOST));
	kept_read(at + (most - 1) * KEPT_MOST, read, sizeof(read));
	ck_assert_mem_eq(read, bytes, sizeof(read));
	kept_forget_all();
}
END_TEST

/* Compared with a state and a value for each byte; ranges lie far apart, in the
 * same chunks and in others. */
START_TEST(test_any_order_is_kept_as_byte_by_byte)
{
	enum { PLACES = 3, SIZE = 2048, STEPS = 4000 };
	static unsigned char model[PLACES][SIZE], state[PLACES][SIZE];
	static unsigned char bytes[SIZE], read[SIZE];
	const uint64_t places[PLACES] = { MIB * 7, MIB * 8 - SIZE / 2,
					  MIB * 512 };
	uint64_t random = 3;

	kept_forget_all();
	memset(model, 0, sizeof(model));
	memset(state, KEPT_UNKNOWN, sizeof(state));
	for (size_t step = 0; step < STEPS; step++) {
		size_t place = next_random(&random) % PLACES;
		size_t at = next_random(&random) % SIZE;
		size_t size = next_random(&random) % (SIZE - at + 1);
		uint64_t addr = places[place] + at;

		memset(bytes, 1 + (int)(next_random(&random) % 255), size);
		switch (next_random(&random) % 5) {
		case 0:
			kept_write(addr, bytes, size);
			memcpy(model[place] + at, bytes, size);
			memset(state[place] + at, KEPT_KNOWN, size);
			break;
		case 1:
			kept_draw(addr, bytes, size);
			memcpy(model[place] + at, bytes, size);
			memset(state[place] + at, KEPT_DRAWN, size);
			break;
		case 2:
			kept_doubt(addr, size);
			memset(state[place] + at, KEPT_UNKNOWN, size);
			break;
		case 3:
			kept_forget(addr, size);
			memset(model[place] + at, 0, size);
			memset(state[place] + at, KEPT_UNKNOWN, size);
			break;
		default:
			kept_read(addr, read, size);
			ck_assert_mem_eq(read, model[place] + at, size);
			for (size_t i = 0; i < size; i++)
				ck_assert_int_eq(kept_take(addr + i, read, 1),
						 state[place][at + i]);
		}
	}
	kept_forget(0, UINT64_C(1) << 40);
	for (size_t i = 0; i < PLACES; i++)
		ck_assert(!kept_has_any(places[i], SIZE));
	kept_forget_all();
}
END_TEST

/* Drawn bytes have values but are not known, also after a copy; known bytes
 * stay known. */
START_TEST(test_what_is_drawn_is_not_known)
{
	uint64_t at = UINT64_C(5) * 2 * MIB - 300;
	char known[100], drawn[600], read[600];

	kept_forget_all();
	memset(known, 1, sizeof(known));
	memset(drawn, 2, sizeof(drawn));
	kept_write(at + 250, known, sizeof(known));
	ck_assert_int_eq(kept_take(at, read, sizeof(read)), KEPT_UNKNOWN);
	kept_fill_in(at, drawn, sizeof(drawn));
	ck_assert_mem_eq(drawn + 250, known, sizeof(known));
	ck_assert_int_eq(kept_take(at, read, sizeof(read)), KEPT_DRAWN);
	ck_assert_mem_eq(read, drawn, sizeof(read));
	kept_copy(at + 1000, at, sizeof(read));
	ck_assert(!kept_has(at + 1000, sizeof(read)));
	ck_assert(kept_has(at + 1250, sizeof(known)));
	ck_assert_int_eq(kept_take(at + 1000, read, 10), KEPT_DRAWN);
	kept_write(at, known, 10);
	ck_assert_int_eq(kept_take(at, read, 10), KEPT_KNOWN);
	kept_doubt_all();
	ck_assert_int_eq(kept_take(at + 20, read, 10), KEPT_UNKNOWN);
	kept_forget_all();
}
END_TEST

/* A byte is known only as long as no other process may have written it. */
START_TEST(test_what_is_known_is_told_byte_by_byte)
{
	uint64_t at = UINT64_C(3) * 2 * MIB - 300;
	char bytes[600] = { 1 }, read[600];

	kept_forget_all();
	kept_write(at, bytes, sizeof(bytes));
	ck_assert(kept_has(at, sizeof(bytes)));
	ck_assert(!kept_has(at, sizeof(bytes) + 1));
	ck_assert(!kept_has(at - 1, 2));
	kept_doubt(at + 255, 1);
	ck_assert(kept_has(at, 255));
	ck_assert(kept_has(at + 256, sizeof(bytes) - 256));
	ck_assert(!kept_take(at, read, sizeof(read)));
	kept_copy(at + MIB, at, sizeof(bytes));
	ck_assert(kept_has(at + MIB, 255));
	ck_assert(!kept_has(at + MIB + 255, 1));
	ck_assert(kept_has(at + MIB + 256, sizeof(bytes) - 256));
	kept_doubt_all();
	ck_assert(!kept_has(at, 1));
	kept_read(at, read, 1);
	ck_assert_int_eq(read[0], 1);
	kept_write(at + 64, bytes, 64);
	ck_assert(kept_has(at + 64, 64));
	ck_assert(!kept_has(at + 63, 1));
	kept_fill(at, 0, 8);
	ck_assert(kept_has(at, 8));
	kept_forget(at + 4, 100);
	ck_assert(kept_has(at, 4));
	ck_assert(!kept_has(at + 64, 1));
	kept_forget_all();
}
END_TEST

START_TEST(test_setting_is_kept_as_well)
{
	static const char zeros[8];
	char *device;

	simcuda_reset();
	device = allocated(MIB);
	cudaMemsetAsync(device, 7, 8, NULL);
	assert_on_device(device, "\7\7\7\7\7\7\7\7", 8);
	cudaMemset(device, 0, MIB);
	assert_on_device(device, zeros, 8);
}
END_TEST

START_TEST(test_rows_are_copied_one_by_one)
{
	char *device;

	simcuda_reset();
	device = allocated(MIB);
	ck_assert_int_eq(cudaMemcpy2DAsync(device, 100, "abcdef", 3, 2, 2,
					   cudaMemcpyHostToDevice, NULL),
			 cudaSuccess);
	assert_on_device(device, "ab", 2);
	assert_on_device(device + 100, "de", 2);
}
END_TEST

static enum cudaMemoryType type_of(const void *pointer)
{
	struct cudaPointerAttributes about;

	ck_assert_int_eq(cudaPointerGetAttributes(&about, pointer),
			 cudaSuccess);
	return about.type;
}

START_TEST(test_addresses_are_of_their_kind)
{
	char plain[10];
	void *pinned, *second;

	simcuda_reset();
	ck_assert_int_eq(cudaHostAlloc(&pinned, 1000, 0), cudaSuccess);
	ck_assert_int_eq(cudaMallocHost(&second, 1000), cudaSuccess);
	ck_assert_int_eq(type_of((char *)pinned + 999), cudaMemoryTypeHost);
	ck_assert_int_eq(type_of((char *)second + 1), cudaMemoryTypeHost);
	ck_assert_int_eq(type_of(allocated(MIB)), cudaMemoryTypeDevice);
	ck_assert_int_eq(type_of(plain), cudaMemoryTypeUnregistered);
	cudaHostRegister(plain, sizeof(plain), 0);
	ck_assert_int_eq(type_of(plain + 9), cudaMemoryTypeHost);
	ck_assert_int_eq(cudaHostUnregister(plain), cudaSuccess);
	ck_assert_int_eq(cudaHostUnregister(plain), cudaErrorInvalidValue);
	ck_assert_int_eq(cudaFreeHost(pinned), cudaSuccess);
	ck_assert_int_eq(cudaFreeHost(second), cudaSuccess);
	ck_assert_int_eq(cudaFreeHost(NULL), cudaSuccess);
	ck_assert_int_eq(cudaFree(plain), cudaErrorInvalidValue);
}
END_TEST

START_TEST(test_work_takes_time)
{
	cudaEvent_t first, second;
	float ms = 0;

	simcuda_reset();
	cudaEventCreate(&first);
	cudaEventCreate(&second);
	ck_assert_int_eq(cudaEventElapsedTime(&ms, first, second),
			 cudaErrorInvalidResourceHandle);
	cudaEventRecord(first, NULL);
	cudaEventRecord(second, NULL);
	ck_assert_int_eq(cudaEventElapsedTime(&ms, first, second), cudaSuccess);
	ck_assert_float_gt(ms, 0.0F);
	simcuda_launch(0);
	cudaEventRecord(second, NULL);
	ck_assert_float_gt(ms, 0.0F);
	cudaEventDestroy(first);
	cudaEventDestroy(second);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_small_copies_keep_their_bytes, 0 },
		{ test_large_copies_come_back_as_zeros, 0 },
		{ test_memory_that_is_used_anew_is_zeros, 0 },
		{ test_part_of_what_is_kept_is_forgotten, 0 },
		{ test_any_order_is_kept_as_byte_by_byte, 0 },
		{ test_the_oldest_of_what_is_large_is_forgotten_first, 0 },
		{ test_what_is_drawn_is_not_known, 0 },
		{ test_what_is_known_is_told_byte_by_byte, 0 },
		{ test_setting_is_kept_as_well, 0 },
		{ test_rows_are_copied_one_by_one, 0 },
		{ test_addresses_are_of_their_kind, 0 },
		{ test_work_takes_time, 0 },
	};

	return suite_run("simcuda_copy", tests, COUNT_OF(tests));
}
