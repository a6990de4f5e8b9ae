/* SPDX-License-Identifier: MIT */
/* Device memory: cudaMalloc and cudaFree; what an address is; host memory. */
#include "simcuda/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/peer.h"
#include "simcuda/stream.h"

/* A device's cudaMalloc addresses lie so far from the next one's. */
#define ADDRESSES_SHIFT 40

static void *pointer_of(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

static void note_range(struct simcuda_device *device, uint64_t addr,
		       uint64_t size)
{
	if (!device->highest || addr < device->lowest)
		device->lowest = addr;
	if (addr + size > device->highest)
		device->highest = addr + size;
}

bool memory_take(int device, uint64_t size, uint64_t *addr)
{
	struct gp_device *memory = process_memory(device);

	if (!memory->ops->malloc(memory, size, addr))
		return false;
	gp_map_put(&process.devices[device].grains, *addr,
		   (uint32_t)process_grains(size));
	kept_forget(*addr, size);
	note_range(&process.devices[device], *addr, size);
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

static bool is_in(const struct gp_map *grains, uint64_t addr, uint64_t *base,
		  uint64_t *size)
{
	for (size_t i = 0; i < grains->room; i++) {
		const struct gp_map_slot *slot = &grains->slots[i];

		if (slot->value == GP_MAP_NONE || addr < slot->key ||
		    addr - slot->key >= slot->value * GP_DEVICE_GRAIN)
			continue;
		*base = slot->key;
		*size = slot->value * GP_DEVICE_GRAIN;
		return true;
	}
	return false;
}

bool memory_find(uint64_t addr, int *device, uint64_t *base, uint64_t *size)
{
	for (int i = 0; i < process.device_count; i++)
		if (is_in(&process.devices[i].grains, addr, base, size)) {
			*device = i;
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
	process_end(cudaSuccess);
	process_notify_memory(process_current_device(), addr, size);
	return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
	uint64_t size;
	int device;

	process_begin(CALL_cudaFree);
	if (!pointer)
		return process_end(cudaSuccess);
	if (!memory_give((uintptr_t)pointer, &device, &size))
		return process_end(host_free(pointer)); /* managed */
	process_end(cudaSuccess);
	process_notify_memory(device, (uintptr_t)pointer, 0);
	return cudaSuccess;
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
	int device;

	for (int i = 0; i < process.device_count; i++)
		if (addr < process.devices[i].highest &&
		    addr >= process.devices[i].lowest)
			return true;
	return (addr >= GP_SIM_RESERVE_BASE &&
		addr < process.highest_reserved) ||
	       ipc_has(addr, &device);
}

int memory_device_of(uint64_t addr)
{
	uint64_t at = (addr - GP_SIM_BASE) >> ADDRESSES_SHIFT;
	int device;

	if (ipc_has(addr, &device) ||
	    (addr >= GP_SIM_RESERVE_BASE && virtual_device(addr, &device)))
		return device;
	if (addr >= GP_SIM_RESERVE_BASE)
		return process_current_device();
	return at < SIMCUDA_MOST_DEVICES ? (int)at : process_current_device();
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
				     const void *pointer)
{
	uint64_t addr = (uintptr_t)pointer;

	process_begin(CALL_cudaPointerGetAttributes);
	if (memory_is_device(addr))
		*attributes = (struct cudaPointerAttributes){
			.type = cudaMemoryTypeDevice,
			.device = memory_device_of(addr),
			.devicePointer = pointer_of(addr),
		};
	else if (host_has(addr))
		*attributes = (struct cudaPointerAttributes){
			.type = cudaMemoryTypeHost,
			.device = process_current_device(),
			.devicePointer = pointer_of(addr),
			.hostPointer = pointer_of(addr),
		};
	else
		*attributes = (struct cudaPointerAttributes){
			.type = cudaMemoryTypeUnregistered,
			.device = -2, /* cudaInvalidDeviceId */
			.hostPointer = pointer_of(addr),
		};
	return process_end(cudaSuccess);
}

/* ---- host memory ---- */

/*
 * Host memory that the device can reach: allocated here, or registered.  Its
 * ranges are kept in order, as programs ask of any address what it is.
 */

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
