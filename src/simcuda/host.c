/* SPDX-License-Identifier: MIT */
/*
 * Host memory that the device can reach: allocated here, or registered.  Its
 * ranges are kept in order, as programs ask of any address what it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/memory.h"

struct range {
	uint64_t addr, size;
};

static struct {
	struct range *items;
	size_t count, room;
} ranges;

/* The first range behind an address. */
static size_t after(uint64_t addr)
{
	size_t low = 0, high = ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges.items[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool host_has(uint64_t addr)
{
	size_t i = after(addr);

	return i && addr - ranges.items[i - 1].addr < ranges.items[i - 1].size;
}

static void add(void *pointer, uint64_t size)
{
	uint64_t addr = (uintptr_t)pointer;
	size_t i = after(addr);

	ranges.items = gp_mem_grow(ranges.items, &ranges.room, ranges.count + 1,
				   sizeof(*ranges.items));
	memmove(&ranges.items[i + 1], &ranges.items[i],
		(ranges.count++ - i) * sizeof(*ranges.items));
	ranges.items[i] = (struct range){ addr, size };
}

static bool drop(const void *pointer)
{
	uint64_t addr = (uintptr_t)pointer;
	size_t i = after(addr);

	if (!i || ranges.items[i - 1].addr != addr)
		return false;
	memmove(&ranges.items[i - 1], &ranges.items[i],
		(ranges.count-- - i) * sizeof(*ranges.items));
	return true;
}

void host_forget(void)
{
	free(ranges.items);
	memset(&ranges, 0, sizeof(ranges));
}

static cudaError_t allocate(enum simcuda_call call, void **pointer, size_t size)
{
	process_begin(call);
	*pointer = size ? calloc(1, size) : NULL;
	if (*pointer)
		add(*pointer, size);
	return process_end(size && !*pointer ? cudaErrorMemoryAllocation
					     : cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
	return allocate(CALL_cudaMallocHost, pointer, size);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return allocate(CALL_cudaHostAlloc, pointer, size);
}

/* Both sides reach it: it is on the host. */
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return allocate(CALL_cudaMallocManaged, pointer, size);
}

cudaError_t host_free(void *pointer)
{
	if (!drop(pointer))
		return cudaErrorInvalidValue;
	free(pointer);
	return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer)
{
	process_begin(CALL_cudaFreeHost);
	return process_end(pointer ? host_free(pointer) : cudaSuccess);
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
	(void)flags;
	process_begin(CALL_cudaHostRegister);
	add(pointer, size);
	return process_end(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	process_begin(CALL_cudaHostUnregister);
	return process_end(drop(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *pointer,
				     unsigned flags)
{
	(void)flags;
	process_begin(CALL_cudaHostGetDevicePointer);
	*device = pointer;
	return process_end(cudaSuccess);
}
