/* SPDX-License-Identifier: MIT */
/* The CUDA runtime without a device: memory, virtual memory, pools. */
#include <stdlib.h>

#include "gpupool/device.h"
#include "simcuda/simcuda.h"
#include "simcuda/api/cuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "suite.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t allocated(uint64_t size)
{
	void *pointer = NULL;

	ck_assert_int_eq(cudaMalloc(&pointer, size), cudaSuccess);
	return (uintptr_t)pointer;
}

static cudaError_t give_back(uint64_t addr)
{
	return cudaFree((void *)(uintptr_t)addr);
}

static uint64_t free_memory(void)
{
	size_t free_bytes, total;

	ck_assert_int_eq(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
	return free_bytes;
}

START_TEST(test_addresses_are_the_simulated_devices)
{
	static const uint64_t sizes[] = { 20 * MIB, 2 * MIB, MIB, 3 * MIB };
	struct gp_device *sim = gp_sim_create(0, UINT64_C(80) << 30);
	uint64_t addrs[COUNT_OF(sizes)], expected;

	simcuda_reset();
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		ck_assert(sim->ops->malloc(sim, sizes[i], &expected));
		addrs[i] = allocated(sizes[i]);
		ck_assert_uint_eq(addrs[i], expected);
	}
	sim->ops->free(sim, addrs[1], sizes[1]);
	ck_assert_int_eq(give_back(addrs[1]), cudaSuccess);
	ck_assert(sim->ops->malloc(sim, MIB, &expected));
	ck_assert_uint_eq(allocated(MIB), expected);
	gp_device_destroy(sim);
}
END_TEST

START_TEST(test_out_of_memory_is_an_answer)
{
	void *pointer = &pointer;

	simcuda_reset();
	simcuda_set_capacity(0, 8 * MIB);
	allocated(5 * MIB); /* takes 6 */
	ck_assert_uint_eq(free_memory(), 2 * MIB);
	ck_assert_int_eq(cudaMalloc(&pointer, 3 * MIB),
			 cudaErrorMemoryAllocation);
	ck_assert_ptr_null(pointer);
	ck_assert_int_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
	ck_assert_int_eq(cudaGetLastError(), cudaSuccess);
	simcuda_set_other(0, 2 * MIB);
	ck_assert_uint_eq(free_memory(), 0);
	ck_assert_int_eq(cudaMalloc(&pointer, 1), cudaErrorMemoryAllocation);
	simcuda_set_other(0, 0);
	allocated(1);
}
END_TEST

START_TEST(test_a_context_takes_memory_that_is_not_given)
{
	void *pointer = NULL;
	size_t free_bytes, total;

	setenv("SIMCUDA_CONTEXT", "6291456", 1);
	simcuda_reset();
	simcuda_set_capacity(0, 32 * MIB);
	ck_assert_int_eq(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
	ck_assert_uint_eq(free_bytes, 26 * MIB);
	ck_assert_uint_eq(total, 32 * MIB);
	ck_assert_int_eq(cudaMalloc(&pointer, 28 * MIB),
			 cudaErrorMemoryAllocation);
	allocated(26 * MIB);
	ck_assert_uint_eq(free_memory(), 0);

	setenv("SIMCUDA_BOUNDLESS", "1", 1);
	simcuda_reset();
	simcuda_set_capacity(0, 32 * MIB);
	ck_assert_uint_eq(free_memory(), 26 * MIB);
	allocated(28 * MIB);
	ck_assert_uint_eq(free_memory(), 0);
	unsetenv("SIMCUDA_BOUNDLESS");
	unsetenv("SIMCUDA_CONTEXT");
	simcuda_reset();
}
END_TEST

/* In the order in which segments lie in recordings from Linux. */
START_TEST(test_memory_is_placed_as_on_linux)
{
	uint64_t first, second, small, large;

	setenv("SIMCUDA_DOWNWARD", "1", 1);
	simcuda_reset();
	simcuda_set_capacity(0, UINT64_C(2) << 40);
	first = allocated(20 * MIB);
	second = allocated(20 * MIB);
	ck_assert_uint_eq(first - second, 32 * MIB);
	large = allocated(86 * MIB);
	ck_assert_uint_eq(second - large, 96 * MIB);
	small = allocated(2 * MIB); /* after the last one */
	ck_assert_uint_eq(small - large, 86 * MIB);
	ck_assert_uint_eq(allocated(2 * MIB) - small, 2 * MIB);
	ck_assert_uint_eq(allocated(12 * MIB) - second, 20 * MIB);
	ck_assert_int_eq(give_back(large), cudaSuccess);
	ck_assert_uint_eq(allocated(20 * MIB), large);
	/* the range of the first returns to the system, which reuses it */
	ck_assert_uint_eq(allocated(66 * MIB) - large, 20 * MIB);
	ck_assert_int_eq(give_back(first), cudaSuccess);
	ck_assert_uint_eq(allocated(30 * MIB), first);
	/* more than there are addresses below */
	ck_assert_uint_gt(allocated(UINT64_C(1) << 40), first);
	unsetenv("SIMCUDA_DOWNWARD");
	simcuda_reset();
}
END_TEST

START_TEST(test_nothing_and_no_pointer)
{
	simcuda_reset();
	ck_assert_uint_eq(allocated(0), 0);
	ck_assert_int_eq(cudaFree(NULL), cudaSuccess);
	ck_assert_int_eq(give_back(GP_SIM_BASE), cudaErrorInvalidValue);
}
END_TEST

START_TEST(test_several_devices)
{
	int device = -1;

	simcuda_reset();
	simcuda_set_devices(2);
	simcuda_set_capacity(1, 4 * MIB);
	ck_assert_int_eq(cudaSetDevice(2), cudaErrorInvalidDevice);
	ck_assert_int_eq(cudaSetDevice(1), cudaSuccess);
	ck_assert_int_eq(cudaGetDevice(&device), cudaSuccess);
	ck_assert_int_eq(device, 1);
	ck_assert_uint_eq(allocated(1), GP_SIM_BASE + (UINT64_C(1) << 40));
	ck_assert_uint_eq(free_memory(), 2 * MIB);
	ck_assert_int_eq(cudaSetDevice(0), cudaSuccess);
	/* freed from a device other than its own */
	ck_assert_int_eq(give_back(GP_SIM_BASE + (UINT64_C(1) << 40)),
			 cudaSuccess);
}
END_TEST

/* ---- virtual memory ---- */

static CUmemGenericAllocationHandle created(uint64_t size)
{
	CUmemAllocationProp prop = { .type = 1, .location = { 1, 0 } };
	CUmemGenericAllocationHandle handle = 0;

	ck_assert_int_eq(cuMemCreate(&handle, size, &prop, 0), CUDA_SUCCESS);
	return handle;
}

START_TEST(test_reservations_take_no_memory)
{
	CUdeviceptr a, b;

	simcuda_reset();
	simcuda_set_capacity(0, 4 * MIB);
	ck_assert_int_eq(cuMemAddressReserve(&a, 100 * MIB, 0, 0, 0),
			 CUDA_SUCCESS);
	ck_assert_int_eq(cuMemAddressReserve(&b, 100 * MIB, 0, 0, 0),
			 CUDA_SUCCESS);
	ck_assert_uint_eq(a, GP_SIM_RESERVE_BASE);
	ck_assert_uint_eq(b, a + 100 * MIB);
	ck_assert_uint_eq(free_memory(), 4 * MIB);
	ck_assert_int_eq(cuMemAddressFree(a, 100 * MIB), CUDA_SUCCESS);
	ck_assert_int_eq(cuMemAddressReserve(&b, 2 * MIB, 0, 0, 0),
			 CUDA_SUCCESS);
	ck_assert_uint_eq(b, a);
}
END_TEST

START_TEST(test_memory_lives_while_held_or_mapped)
{
	CUmemAllocationProp prop = { .location = { 1, 0 } };
	CUmemGenericAllocationHandle handle, more;
	const CUdeviceptr at = GP_SIM_RESERVE_BASE;

	simcuda_reset();
	simcuda_set_capacity(0, 4 * MIB);
	handle = created(4 * MIB);
	ck_assert_int_eq(cuMemCreate(&more, 2 * MIB, &prop, 0),
			 CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_int_eq(cuMemMap(at, 4 * MIB, 0, handle, 0), CUDA_SUCCESS);
	ck_assert_int_eq(cuMemMap(at, 4 * MIB, 0, handle, 0),
			 CUDA_ERROR_INVALID_VALUE);
	ck_assert_int_eq(cuMemRelease(handle), CUDA_SUCCESS);
	ck_assert_uint_eq(free_memory(), 0);
	ck_assert_int_eq(cuMemUnmap(at, 4 * MIB), CUDA_SUCCESS);
	ck_assert_uint_eq(free_memory(), 4 * MIB);
	ck_assert_int_eq(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
	ck_assert_uint_eq(created(2 * MIB), handle); /* its number is reused */
}
END_TEST

START_TEST(test_sizes_and_kinds_that_are_refused)
{
	CUmemAllocationProp prop = { .location = { 1, 0 } };
	CUmemGenericAllocationHandle handle;
	size_t grain = 0;

	simcuda_reset();
	ck_assert_int_eq(cuMemGetAllocationGranularity(&grain, &prop, 0),
			 CUDA_SUCCESS);
	ck_assert_uint_eq(grain, GP_DEVICE_GRAIN);
	ck_assert_int_eq(cuMemCreate(&handle, MIB, &prop, 0),
			 CUDA_ERROR_INVALID_VALUE);
	prop.location.id = 1;
	ck_assert_int_eq(cuMemCreate(&handle, 2 * MIB, &prop, 0),
			 CUDA_ERROR_INVALID_DEVICE);
	prop.location.id = 0;
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
	ck_assert_int_eq(cuMemCreate(&handle, 2 * MIB, &prop, 0),
			 CUDA_ERROR_NOT_SUPPORTED);
}
END_TEST

/* ---- pools, host memory, copies ---- */

START_TEST(test_pool_counts_what_is_used)
{
	uint64_t used = 1, high = 0;
	cudaMemPool_t pool;
	void *pointer;

	simcuda_reset();
	ck_assert_int_eq(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
	ck_assert_int_eq(cudaMallocAsync(&pointer, 3 * MIB, NULL), cudaSuccess);
	ck_assert_int_eq(cudaFreeAsync(pointer, NULL), cudaSuccess);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high);
	ck_assert_uint_eq(used, 0);
	ck_assert_uint_eq(high, 4 * MIB);
}
END_TEST

/* Each pool counts its own memory, which is freed by its address alone. */
START_TEST(test_pools_of_the_programs_own)
{
	struct cudaMemPoolProps properties = { .location = { .id = 0 } };
	uint64_t used = 1, first = 1;
	cudaMemPool_t standard, pool;
	void *pointer;

	simcuda_reset();
	cudaDeviceGetDefaultMemPool(&standard, 0);
	ck_assert_int_eq(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
	ck_assert_int_eq(cudaMallocFromPoolAsync(&pointer, MIB, pool, NULL),
			 cudaSuccess);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
	cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent,
				&first);
	ck_assert_uint_eq(used, 2 * MIB);
	ck_assert_uint_eq(first, 0);
	ck_assert_int_eq(cudaFreeAsync(pointer, NULL), cudaSuccess);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
	ck_assert_uint_eq(used, 0);
	ck_assert_int_eq(cudaMemPoolDestroy(pool), cudaSuccess);
	ck_assert_int_eq(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);
	properties.location.id = 7;
	ck_assert_int_eq(cudaMemPoolCreate(&pool, &properties),
			 cudaErrorInvalidDevice);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_addresses_are_the_simulated_devices, 0 },
		{ test_out_of_memory_is_an_answer, 0 },
		{ test_a_context_takes_memory_that_is_not_given, 0 },
		{ test_memory_is_placed_as_on_linux, 0 },
		{ test_nothing_and_no_pointer, 0 },
		{ test_several_devices, 0 },
		{ test_reservations_take_no_memory, 0 },
		{ test_memory_lives_while_held_or_mapped, 0 },
		{ test_sizes_and_kinds_that_are_refused, 0 },
		{ test_pool_counts_what_is_used, 0 },
		{ test_pools_of_the_programs_own, 0 },
	};

	return suite_run("simcuda", tests, COUNT_OF(tests));
}
