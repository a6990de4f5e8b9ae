/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory: reservations, physical memory by handle, and mappings.
 *
 * Memory is taken when a handle is created and given back when it is released
 * and no longer mapped, whichever comes last, as the driver does.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "simcuda/memory.h"

struct handle {
	uint64_t size;
	int device;
	uint32_t mappings;
	bool is_held; /* not yet released */
};

/* A driver's handle is the index + 1; a slot is used anew when it is free. */
static struct {
	struct handle *items;
	uint32_t *spare;
	size_t count, room, spare_count, spare_room;
	struct gp_map mapped; /* address -> index */
} handles;

void handles_forget(void)
{
	free(handles.items);
	free(handles.spare);
	gp_map_release(&handles.mapped);
	handles.items = NULL;
	handles.spare = NULL;
	handles.count = handles.room = 0;
	handles.spare_count = handles.spare_room = 0;
}

static uint32_t new_handle(void)
{
	if (handles.spare_count)
		return handles.spare[--handles.spare_count];
	handles.items = gp_mem_grow(handles.items, &handles.room,
				    handles.count + 1, sizeof(*handles.items));
	return (uint32_t)handles.count++;
}

/* Gives the memory back when nobody holds or maps it any more. */
static void settle(uint32_t index)
{
	struct handle *h = &handles.items[index];
	struct gp_device *memory;

	if (h->is_held || h->mappings)
		return;
	memory = process_memory(h->device);
	memory->ops->unmap(memory, 0, h->size, h->size);
	handles.spare =
		gp_mem_grow(handles.spare, &handles.spare_room,
			    handles.spare_count + 1, sizeof(*handles.spare));
	handles.spare[handles.spare_count++] = index;
	h->size = 0;
}

static struct handle *find(CUmemGenericAllocationHandle handle)
{
	if (!handle || handle > handles.count ||
	    !handles.items[handle - 1].size)
		return NULL;
	return &handles.items[handle - 1];
}

/* So large a mapping is still found from its last grain. */
#define MOST_GRAINS 65536

bool virtual_device(uint64_t addr, int *device)
{
	uint64_t at = addr / GP_DEVICE_GRAIN * GP_DEVICE_GRAIN;
	uint32_t index = GP_MAP_NONE;

	if (!handles.mapped.count)
		return false;
	for (int i = 0; i < MOST_GRAINS && at >= GP_SIM_RESERVE_BASE &&
			index == GP_MAP_NONE;
	     i++, at -= GP_DEVICE_GRAIN)
		index = gp_map_get(&handles.mapped, at);
	if (index == GP_MAP_NONE ||
	    addr >= at + GP_DEVICE_GRAIN + handles.items[index].size)
		return false;
	*device = handles.items[index].device;
	return true;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t align,
			     CUdeviceptr wanted, unsigned long long flags)
{
	struct gp_device *memory;
	uint64_t addr;

	(void)align;
	(void)wanted;
	(void)flags;
	process_begin(CALL_cuMemAddressReserve);
	memory = process_memory(process.reserving);
	if (!size || !memory->ops->reserve(memory, size, &addr))
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	*address = addr;
	if (addr + size > process.highest_reserved)
		process.highest_reserved = addr + size;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	struct gp_device *memory;

	process_begin(CALL_cuMemAddressFree);
	memory = process_memory(process.reserving);
	memory->ops->unreserve(memory, address, size);
	return process_end_driver(CUDA_SUCCESS);
}

static bool is_wanted_kind(const CUmemAllocationProp *prop)
{
	return !(prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	int device = prop->location.id;
	struct gp_device *memory;
	uint32_t index;

	(void)flags;
	process_begin(CALL_cuMemCreate);
	if (!is_wanted_kind(prop))
		return process_end_driver(CUDA_ERROR_NOT_SUPPORTED);
	if (!process_has_device(device))
		return process_end_driver(CUDA_ERROR_INVALID_DEVICE);
	if (!size || size % GP_DEVICE_GRAIN)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	memory = process_memory(device);
	if (!memory->ops->map(memory, 0, size, size))
		return process_end_driver(CUDA_ERROR_OUT_OF_MEMORY);
	index = new_handle();
	handles.items[index] = (struct handle){ size, device, 0, true };
	*handle = (CUmemGenericAllocationHandle)index + 1;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct handle *h;

	process_begin(CALL_cuMemRelease);
	h = find(handle);
	if (!h || !h->is_held)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	h->is_held = false;
	settle((uint32_t)(handle - 1));
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct handle *h;

	(void)flags;
	process_begin(CALL_cuMemMap);
	h = find(handle);
	if (!h || offset + size > h->size ||
	    gp_map_get(&handles.mapped, address) != GP_MAP_NONE)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	h->mappings++;
	gp_map_put(&handles.mapped, address, (uint32_t)(handle - 1));
	return process_end_driver(CUDA_SUCCESS);
}

/* A range may hold several mappings; they begin on grains. */
CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	uint32_t index;
	bool found = false;

	process_begin(CALL_cuMemUnmap);
	for (uint64_t at = 0; at < size; at += GP_DEVICE_GRAIN) {
		index = gp_map_take(&handles.mapped, address + at);
		if (index == GP_MAP_NONE)
			continue;
		found = true;
		handles.items[index].mappings--;
		settle(index);
	}
	return process_end_driver(found ? CUDA_SUCCESS
					: CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size,
			const CUmemAccessDesc *access, size_t count)
{
	(void)address;
	(void)size;
	(void)access;
	(void)count;
	process_begin(CALL_cuMemSetAccess);
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity,
				       const CUmemAllocationProp *prop,
				       int option)
{
	(void)prop;
	(void)option;
	process_begin(CALL_cuMemGetAllocationGranularity);
	*granularity = GP_DEVICE_GRAIN;
	return process_end_driver(CUDA_SUCCESS);
}

/* Nobody who asks needs more than the beginning. */
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
				 CUdeviceptr address)
{
	process_begin(CALL_cuMemGetAddressRange);
	if (base)
		*base = address;
	if (size)
		*size = 0;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size,
			      CUdeviceptr address)
{
	return cuMemGetAddressRange_v2(base, size, address);
}
