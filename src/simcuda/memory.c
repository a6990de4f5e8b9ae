/*
 * Device memory: cudaMalloc and cudaFree; host memory; copies.  Nothing stands
 * behind a device address, so a copy from the device gives zeros.
 */
#include <stdlib.h>
#include <string.h>

#include "simcuda/memory.h"
#include "simcuda/stream.h"

/* A device's cudaMalloc addresses lie so far from the next one's. */
#define ADDRESSES_SHIFT 40

static void *pointer_of(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

bool memory_take(int device, uint64_t size, uint64_t *addr)
{
	struct gp_device *memory = process_memory(device);

	if (!memory->ops->malloc(memory, size, addr))
		return false;
	gp_map_put(&process.devices[device].grains, *addr,
		   (uint32_t)process_grains(size));
	if (*addr + size > process.devices[device].highest)
		process.devices[device].highest = *addr + size;
	return true;
}

bool memory_give(uint64_t addr, int *device, uint64_t *size)
{
	for (int i = 0; i < process.device_count; i++) {
		uint32_t n = gp_map_take(&process.devices[i].grains, addr);
		struct gp_device *memory;

		if (n == GP_MAP_NONE)
			continue;
		memory = process_memory(i);
		*device = i;
		*size = n * GP_DEVICE_GRAIN;
		memory->ops->free(memory, addr, *size);
		return true;
	}
	return false;
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
	uint64_t addr = 0;

	process_begin(CALL_cudaMalloc);
	*pointer = NULL;
	if (size && !memory_take(process_current_device(), size, &addr))
		return process_end(cudaErrorMemoryAllocation);
	*pointer = pointer_of(addr);
	return process_end(cudaSuccess);
}

cudaError_t cudaFree(void *pointer)
{
	uint64_t size;
	int device;

	process_begin(CALL_cudaFree);
	if (pointer && !memory_give((uintptr_t)pointer, &device, &size))
		return process_end(cudaErrorInvalidValue);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	struct gp_device *memory;
	uint64_t free_now, total;

	process_begin(CALL_cudaMemGetInfo);
	memory = process_memory(process_current_device());
	memory->ops->info(memory, &free_now, &total);
	*free_bytes = free_now;
	*total_bytes = total;
	return process_end(cudaSuccess);
}

/* Host addresses may lie in between: only what was handed out counts. */
bool memory_is_device(uint64_t addr)
{
	for (int i = 0; i < process.device_count; i++)
		if (addr < process.devices[i].highest &&
		    addr >= GP_SIM_BASE + ((uint64_t)i << ADDRESSES_SHIFT))
			return true;
	return addr >= GP_SIM_RESERVE_BASE && addr < process.highest_reserved;
}

static int device_of(uint64_t addr)
{
	uint64_t at = (addr - GP_SIM_BASE) >> ADDRESSES_SHIFT;

	return at < SIMCUDA_MOST_DEVICES ? (int)at : process_current_device();
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
				     const void *pointer)
{
	bool is_device;

	process_begin(CALL_cudaPointerGetAttributes);
	is_device = memory_is_device((uintptr_t)pointer);
	*attributes = (struct cudaPointerAttributes){
		.type = is_device ? cudaMemoryTypeDevice
				  : cudaMemoryTypeUnregistered,
		.device = is_device ? device_of((uintptr_t)pointer) : -2,
		.devicePointer = is_device ? (void *)(uintptr_t)pointer : NULL,
		.hostPointer = is_device ? NULL : (void *)(uintptr_t)pointer,
	};
	return process_end(cudaSuccess);
}

/* ---- host memory ---- */

static cudaError_t host_alloc(enum simcuda_call call, void **pointer,
			      size_t size)
{
	process_begin(call);
	*pointer = size ? calloc(1, size) : NULL;
	return process_end(size && !*pointer ? cudaErrorMemoryAllocation
					     : cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
	return host_alloc(CALL_cudaMallocHost, pointer, size);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
	(void)flags;
	return host_alloc(CALL_cudaHostAlloc, pointer, size);
}

cudaError_t cudaFreeHost(void *pointer)
{
	process_begin(CALL_cudaFreeHost);
	free(pointer);
	return process_end(cudaSuccess);
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
	(void)pointer;
	(void)size;
	(void)flags;
	process_begin(CALL_cudaHostRegister);
	return process_end(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	(void)pointer;
	process_begin(CALL_cudaHostUnregister);
	return process_end(cudaSuccess);
}

/* ---- copies ---- */

/* What a stream does asynchronously is part of its graph. */
static void capture(cudaStream_t stream)
{
	process_lock();
	stream_node((uintptr_t)stream);
	process_unlock();
}

static cudaError_t copy(enum simcuda_call call, void *to, const void *from,
			size_t size)
{
	process_begin(call);
	streams_work();
	if (!memory_is_device((uintptr_t)to)) {
		if (memory_is_device((uintptr_t)from))
			memset(to, 0, size);
		else
			memmove(to, from, size);
	}
	return process_end(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
		       enum cudaMemcpyKind kind)
{
	(void)kind;
	return copy(CALL_cudaMemcpy, to, from, size);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	capture(stream);
	return copy(CALL_cudaMemcpyAsync, to, from, size);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
				int from_device, size_t size,
				cudaStream_t stream)
{
	(void)to_device;
	(void)from_device;
	capture(stream);
	return copy(CALL_cudaMemcpyPeerAsync, to, from, size);
}

static cudaError_t set(enum simcuda_call call, void *at, int value, size_t size)
{
	process_begin(call);
	streams_work();
	if (!memory_is_device((uintptr_t)at))
		memset(at, value, size);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemset(void *at, int value, size_t size)
{
	return set(CALL_cudaMemset, at, value, size);
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t size,
			    cudaStream_t stream)
{
	capture(stream);
	return set(CALL_cudaMemsetAsync, at, value, size);
}

/* ---- memory of other processes: there is none to be had ---- */

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
	(void)handle;
	(void)pointer;
	process_begin(CALL_cudaIpcGetMemHandle);
	return process_end(cudaErrorNotSupported);
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle,
				 unsigned flags)
{
	(void)pointer;
	(void)handle;
	(void)flags;
	process_begin(CALL_cudaIpcOpenMemHandle);
	return process_end(cudaErrorNotSupported);
}

cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
	(void)pointer;
	process_begin(CALL_cudaIpcCloseMemHandle);
	return process_end(cudaErrorNotSupported);
}
