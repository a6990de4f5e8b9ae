/* SPDX-License-Identifier: MIT */
/* The CUDA runtime without a device: how devices and processes access each
 * other's memory. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simcuda/kept.h"
#include "simcuda/simcuda.h"
#include "simcuda/api/cuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "suite.h"

#define MIB ((size_t)1 << 20)

START_TEST(test_devices_reach_each_other)
{
	int can = -1;

	simcuda_reset();
	simcuda_set_devices(2);
	ck_assert_int_eq(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
	ck_assert_int_eq(can, 1);
	cudaDeviceCanAccessPeer(&can, 1, 1);
	ck_assert_int_eq(can, 0);
	ck_assert_int_eq(cudaDeviceCanAccessPeer(&can, 0, 2),
			 cudaErrorInvalidDevice);
	ck_assert_int_eq(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
	ck_assert_int_eq(cudaDeviceEnablePeerAccess(1, 0),
			 cudaErrorPeerAccessAlreadyEnabled);
	ck_assert_int_eq(cudaDeviceDisablePeerAccess(1), cudaSuccess);
	ck_assert_int_eq(cudaDeviceDisablePeerAccess(1),
			 cudaErrorPeerAccessNotEnabled);
	ck_assert_int_eq(cudaDeviceEnablePeerAccess(0, 0),
			 cudaErrorInvalidDevice);
}
END_TEST

START_TEST(test_geforce_cards_do_not)
{
	const struct gp_gpu_properties geforce = {
		.name = "NVIDIA GeForce RTX 4090",
		.major = 8,
		.minor = 9,
	};
	int can = -1;

	simcuda_reset();
	simcuda_set_devices(2);
	simcuda_set_properties(0, &geforce);
	simcuda_set_properties(1, &geforce);
	cudaDeviceCanAccessPeer(&can, 0, 1);
	ck_assert_int_eq(can, 0);
	ck_assert_int_eq(cudaDeviceEnablePeerAccess(1, 0),
			 cudaErrorInvalidDevice);
}
END_TEST

/* This does not depend on the current device. */
START_TEST(test_mapped_memory_is_of_its_device)
{
	const CUmemAllocationProp prop = { .location = { .id = 1 } };
	struct cudaPointerAttributes attributes;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	simcuda_reset();
	simcuda_set_devices(2);
	ck_assert_int_eq(cuMemAddressReserve(&at, 20 * MIB, 0, 0, 0), 0);
	ck_assert_int_eq(cuMemCreate(&handle, 6 * MIB, &prop, 0), 0);
	ck_assert_int_eq(cuMemMap(at + 2 * MIB, 6 * MIB, 0, handle, 0), 0);
	cudaPointerGetAttributes(&attributes,
				 (void *)(uintptr_t)(at + 8 * MIB - 1));
	ck_assert_int_eq(attributes.type, cudaMemoryTypeDevice);
	ck_assert_int_eq(attributes.device, 1);
	cudaPointerGetAttributes(&attributes, (void *)(uintptr_t)at);
	ck_assert_int_eq(attributes.device, 0);
}
END_TEST

/* The exit status shows what is wrong; 0: nothing. */
static int use(cudaIpcMemHandle_t handle)
{
	struct cudaPointerAttributes attributes;
	size_t before, after, total;
	void *first, *again;

	cudaMemGetInfo(&before, &total);
	if (cudaIpcOpenMemHandle(&first, handle, 0) ||
	    cudaIpcOpenMemHandle(&again, handle, 0) || first != again)
		return 1;
	cudaMemGetInfo(&after, &total);
	if (after != before)
		return 2;
	cudaPointerGetAttributes(&attributes, (char *)first + 4 * MIB);
	if (attributes.type != cudaMemoryTypeDevice || attributes.device != 1)
		return 3;
	if (cudaIpcCloseMemHandle(first) || cudaIpcCloseMemHandle(first))
		return 4;
	cudaPointerGetAttributes(&attributes, first);
	if (attributes.type == cudaMemoryTypeDevice ||
	    cudaIpcCloseMemHandle(first) != cudaErrorInvalidValue)
		return 5;
	return 0;
}

START_TEST(test_a_process_uses_another_ones_memory)
{
	cudaIpcMemHandle_t handle, other;
	void *pointer, *opened;
	int status;
	pid_t child;

	simcuda_reset();
	simcuda_set_devices(2);
	cudaSetDevice(1);
	cudaMalloc(&pointer, 6 * MIB);
	cudaMemset(pointer, 1, 6 * MIB);
	ck_assert(kept_has((uintptr_t)pointer, 8));
	ck_assert_int_eq(cudaIpcGetMemHandle(&handle, pointer), cudaSuccess);
	ck_assert(!kept_has((uintptr_t)pointer, 8));
	cudaMemcpy(pointer, "as if it were known", 8, cudaMemcpyHostToDevice);
	cudaMemset((char *)pointer + MIB, 2, 5 * MIB);
	ck_assert(!kept_has((uintptr_t)pointer, 8));
	ck_assert(!kept_has((uintptr_t)pointer + 3 * MIB, 8));
	ck_assert_int_eq(cudaIpcGetMemHandle(&other, (char *)pointer + MIB),
			 cudaSuccess);
	ck_assert_mem_eq(&handle, &other, sizeof(handle));
	ck_assert_int_eq(cudaIpcOpenMemHandle(&opened, handle, 0),
			 cudaErrorDeviceUninitialized);
	child = fork();
	if (!child)
		_exit(use(handle));
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	cudaFree(pointer);
	cudaMalloc(&pointer, 6 * MIB);
	cudaMemset(pointer, 1, 8);
	ck_assert(kept_has((uintptr_t)pointer, 8));
}
END_TEST

/* The exit status shows what is wrong; 0: nothing. */
static int use_imported(int file)
{
	struct cudaPointerAttributes attributes;
	CUmemGenericAllocationHandle handle;
	size_t before, after, total;
	CUdeviceptr at;
	char *first;

	cudaMemGetInfo(&before, &total);
	if (cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file,
					   CU_MEM_HANDLE_TYPE_POSIX) ||
	    cuMemAddressReserve(&at, 20 * MIB, 0, 0, 0) ||
	    cuMemMap(at, 6 * MIB, 0, handle, 0))
		return 1;
	cudaMemGetInfo(&after, &total);
	if (after != before)
		return 2;
	first = (char *)(uintptr_t)at;
	cudaPointerGetAttributes(&attributes, first + 4 * MIB);
	if (attributes.type != cudaMemoryTypeDevice || attributes.device != 1)
		return 3;
	cudaMemset(first, 1, 8);
	if (kept_has(at, 8))
		return 4;
	if (cuMemUnmap(at, 6 * MIB) || cuMemRelease(handle) ||
	    cuMemRelease(handle) != CUDA_ERROR_INVALID_VALUE)
		return 5;
	cudaMemGetInfo(&after, &total);
	cudaMemset(first, 1, 8);
	return after != before ? 6 : !kept_has(at, 8) ? 7 : 0;
}

START_TEST(test_a_process_maps_another_ones_memory)
{
	const CUmemAllocationProp prop = { .location = { .id = 1 } };
	CUmemGenericAllocationHandle handle, again;
	size_t before, after, total;
	int file = -1, status;
	CUdeviceptr at;
	pid_t child;

	simcuda_reset();
	simcuda_set_devices(2);
	cudaSetDevice(1);
	cudaMemGetInfo(&before, &total);
	cuMemAddressReserve(&at, 20 * MIB, 0, 0, 0);
	cuMemCreate(&handle, 6 * MIB, &prop, 0);
	cuMemMap(at + 2 * MIB, 6 * MIB, 0, handle, 0);
	cudaMemset((void *)(uintptr_t)(at + 2 * MIB), 1, 8);
	ck_assert(kept_has(at + 2 * MIB, 8));
	ck_assert_int_eq(cuMemExportToShareableHandle(
				 &file, handle, CU_MEM_HANDLE_TYPE_POSIX, 0),
			 CUDA_SUCCESS);
	ck_assert(!kept_has(at + 2 * MIB, 8));
	child = fork();
	if (!child)
		_exit(use_imported(file));
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(
		cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file,
					       CU_MEM_HANDLE_TYPE_POSIX),
		CUDA_SUCCESS);
	ck_assert_uint_eq(again, handle);
	close(file);
	cuMemUnmap(at + 2 * MIB, 6 * MIB);
	cuMemRelease(handle);
	cudaMemGetInfo(&after, &total);
	ck_assert_uint_eq(after, before - 6 * MIB);
	cuMemRelease(again);
	cudaMemGetInfo(&after, &total);
	ck_assert_uint_eq(after, before);
	cuMemCreate(&handle, 6 * MIB, &prop, 0);
	cuMemMap(at + 2 * MIB, 6 * MIB, 0, handle, 0);
	cudaMemset((void *)(uintptr_t)(at + 2 * MIB), 1, 8);
	ck_assert(kept_has(at + 2 * MIB, 8));
}
END_TEST

START_TEST(test_what_is_no_handle_is_refused)
{
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t event;
	CUmemGenericAllocationHandle handle = 1;
	cudaEvent_t opened;
	void *pointer;
	int local, files[2];

	simcuda_reset();
	memset(&memory, 1, sizeof(memory));
	memset(&event, 1, sizeof(event));
	ck_assert_int_eq(cudaIpcOpenMemHandle(&pointer, memory, 0),
			 cudaErrorInvalidResourceHandle);
	ck_assert_int_eq(cudaIpcOpenEventHandle(&opened, event),
			 cudaErrorInvalidResourceHandle);
	ck_assert_int_eq(cudaIpcGetMemHandle(&memory, &local),
			 cudaErrorInvalidValue);
	ck_assert_int_eq(cuMemExportToShareableHandle(
				 &local, handle, CU_MEM_HANDLE_TYPE_POSIX, 0),
			 CUDA_ERROR_INVALID_VALUE);
	ck_assert_int_eq(pipe(files), 0);
	ck_assert_int_eq(cuMemImportFromShareableHandle(
				 &handle, (void *)(intptr_t)files[0],
				 CU_MEM_HANDLE_TYPE_POSIX),
			 CUDA_ERROR_INVALID_VALUE);
	close(files[0]);
	close(files[1]);
}
END_TEST

START_TEST(test_another_ones_event_is_done)
{
	cudaIpcEventHandle_t handle;
	cudaEvent_t event, opened;

	simcuda_reset();
	cudaEventCreate(&event);
	ck_assert_int_eq(cudaIpcGetEventHandle(&handle, event), cudaSuccess);
	ck_assert_int_eq(cudaIpcOpenEventHandle(&opened, handle), cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(opened), cudaSuccess);
	cudaEventDestroy(opened);
	cudaEventDestroy(event);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_devices_reach_each_other, 0 },
		{ test_geforce_cards_do_not, 0 },
		{ test_mapped_memory_is_of_its_device, 0 },
		{ test_a_process_uses_another_ones_memory, 0 },
		{ test_a_process_maps_another_ones_memory, 0 },
		{ test_what_is_no_handle_is_refused, 0 },
		{ test_another_ones_event_is_done, 0 },
	};

	return suite_run("simcuda_peer", tests, COUNT_OF(tests));
}
