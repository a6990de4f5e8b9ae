/* SPDX-License-Identifier: MIT */
/*
 * A CUDA driver without a device, with what jaxlib calls before it computes:
 * libcuda.so.1, and the parts of libcudart.so.12 and libnvidia-ml.so.1 that it
 * needs.  Work on streams is complete at once, and copies nothing.  Memory is
 * provided by the caller of xla_driver_serve, tests/cli/jax_bfc.py.  jaxlib
 * takes missing functions for ones that the installed driver does not have yet.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

typedef uint64_t (*take_function)(uint64_t bytes); /* 0: none is left */
typedef void (*give_function)(uint64_t addr);

int xla_driver_serve(uint64_t capacity, take_function take, give_function give);

static uint64_t device_bytes;
static take_function device_take;
static give_function device_give;

int xla_driver_serve(uint64_t capacity, take_function take, give_function give)
{
	device_bytes = capacity;
	device_take = take;
	device_give = give;
	return SUCCESS;
}

/* ---- the device ---- */

#define GRAIN 0x200000 /* bytes in a page */

/* CU_DEVICE_ATTRIBUTE_...: an H200, and 0 for what does not matter here. */
static const struct {
	int attribute;
	int value;
} attributes[] = {
	{ 1, 1024 },	      /* MAX_THREADS_PER_BLOCK */
	{ 2, 1024 },	      /* MAX_BLOCK_DIM_X */
	{ 3, 1024 },	      /* MAX_BLOCK_DIM_Y */
	{ 4, 64 },	      /* MAX_BLOCK_DIM_Z */
	{ 5, 0x7fffffff },    /* MAX_GRID_DIM_X */
	{ 6, 65535 },	      /* MAX_GRID_DIM_Y */
	{ 7, 65535 },	      /* MAX_GRID_DIM_Z */
	{ 8, 49152 },	      /* MAX_SHARED_MEMORY_PER_BLOCK */
	{ 10, 32 },	      /* WARP_SIZE */
	{ 12, 65536 },	      /* MAX_REGISTERS_PER_BLOCK */
	{ 13, 1980000 },      /* CLOCK_RATE */
	{ 16, 132 },	      /* MULTIPROCESSOR_COUNT */
	{ 36, 2619000 },      /* MEMORY_CLOCK_RATE */
	{ 37, 5120 },	      /* GLOBAL_MEMORY_BUS_WIDTH */
	{ 38, 50 * 1048576 }, /* L2_CACHE_SIZE */
	{ 39, 2048 },	      /* MAX_THREADS_PER_MULTIPROCESSOR */
	{ 75, 9 },	      /* COMPUTE_CAPABILITY_MAJOR */
	{ 81, 233472 },	      /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
	{ 82, 65536 },	      /* MAX_REGISTERS_PER_MULTIPROCESSOR */
	{ 97, 232448 },	      /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
	{ 102, 1 },	      /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
};

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = 0;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device)
{
	snprintf(name, (size_t)length, "device %d", device);
	return SUCCESS;
}

int cuDeviceGetPCIBusId(char *id, int length, int device)
{
	snprintf(id, (size_t)length, "0000:%02x:00.0", device + 1);
	return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	snprintf(version, length, "575.57.08");
	return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = device_bytes;
	return SUCCESS;
}

/* XLA asks before it has allocated any memory. */
int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
	*unused = *total = device_bytes;
	return SUCCESS;
}

/* ---- memory: created, mapped at an address, and the reverse ---- */

int cuMemGetAllocationGranularity(size_t *grain, const void *what, int option)
{
	(void)what;
	(void)option;
	*grain = GRAIN;
	return SUCCESS;
}

/* The handle of memory is its address, and XLA maps it whole and at once. */
static uint64_t created;

int cuMemCreate(uint64_t *handle, size_t bytes, const void *what,
		uint64_t flags)
{
	(void)what;
	(void)flags;
	*handle = created = device_take ? device_take(bytes) : 0;
	return created ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemAddressReserve(uint64_t *addr, size_t bytes, size_t alignment,
			uint64_t wanted, uint64_t flags)
{
	(void)bytes;
	(void)alignment;
	(void)wanted;
	(void)flags;
	*addr = created;
	return SUCCESS;
}

int cuMemMap(uint64_t addr, size_t bytes, size_t offset, uint64_t handle,
	     uint64_t flags)
{
	(void)bytes;
	(void)flags;
	return addr == handle && !offset ? SUCCESS : INVALID_VALUE;
}

int cuMemRelease(uint64_t handle)
{
	device_give(handle);
	return SUCCESS;
}

int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
	(void)flags;
	*at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	return *at ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *at)
{
	free(at);
	return SUCCESS;
}

/* ---- contexts, streams and events ---- */

static char context;
static _Thread_local void *current;

int cuDevicePrimaryCtxRetain(void **made, int device)
{
	(void)device;
	*made = &context;
	return SUCCESS;
}

int cuCtxSetCurrent(void *wanted)
{
	current = wanted;
	return SUCCESS;
}

int cuCtxGetCurrent(void **answer)
{
	*answer = current;
	return SUCCESS;
}

static int make(void **made)
{
	*made = malloc(1);
	return *made ? SUCCESS : OUT_OF_MEMORY;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	return make(stream);
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	(void)priority;
	return cuStreamCreate(stream, flags);
}

int cuEventCreate(void **event, unsigned flags)
{
	return cuStreamCreate(event, flags);
}

int cuStreamDestroy_v2(void *stream)
{
	free(stream);
	return SUCCESS;
}

int cuEventDestroy_v2(void *event)
{
	free(event);
	return SUCCESS;
}

int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
	(void)stream;
	function(data);
	return SUCCESS;
}

int cuGetErrorName(int error, const char **name)
{
	*name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
				       : "CUDA_ERROR";
	return SUCCESS;
}

int cuGetErrorString(int error, const char **text)
{
	return cuGetErrorName(error, text);
}

/* ---- the rest, which only has to succeed ---- */

#define DONE(name)                                                             \
	int name(void)                                                         \
	{                                                                      \
		return SUCCESS;                                                \
	}
DONE(cuInit)
DONE(nvmlInit_v2)
DONE(cudaPeekAtLastError)
DONE(cudaGetLastError)
DONE(cuDevicePrimaryCtxRelease_v2)
DONE(cuDevicePrimaryCtxSetFlags_v2)
DONE(cuCtxSynchronize)
DONE(cuStreamSynchronize)
DONE(cuStreamQuery)
DONE(cuStreamWaitEvent)
DONE(cuEventRecord)
DONE(cuEventQuery)
DONE(cuEventSynchronize)
DONE(cuMemSetAccess)
DONE(cuMemUnmap)
DONE(cuMemAddressFree)
DONE(cuMemcpyHtoDAsync_v2)
DONE(cuMemcpyDtoHAsync_v2)
DONE(cuMemcpyDtoDAsync_v2)
DONE(cuMemsetD8Async)
DONE(cuMemsetD32Async)

/* Functions that return a number. */
#define TELLS(name, number)                                                    \
	int name(int *value)                                                   \
	{                                                                      \
		*value = (number);                                             \
		return SUCCESS;                                                \
	}
TELLS(cuDriverGetVersion, 12090)
TELLS(cudaRuntimeGetVersion, 12090)
TELLS(cuDeviceGetCount, 1)
TELLS(cudaGetDeviceCount, 1)
TELLS(cuDeviceGet, 0)
TELLS(cuCtxGetDevice, 0)

/* There is only one device, and only one priority. */
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	(void)device;
	*flags = 0;
	*active = 0;
	return SUCCESS;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	*least = 0;
	*greatest = 0;
	return SUCCESS;
}

int cuStreamIsCapturing(void *stream, int *status)
{
	(void)stream;
	*status = 0;
	return SUCCESS;
}

const char *cudaGetErrorString(int error)
{
	return error ? "an error" : "no error";
}

const char *cudaGetErrorName(int error)
{
	return cudaGetErrorString(error);
}

const char *nvmlErrorString(int error)
{
	return cudaGetErrorString(error);
}
