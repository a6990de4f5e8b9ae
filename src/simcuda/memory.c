/* SPDX-License-Identifier: MIT */
/* Host memory, virtual memory, cudaMalloc and pools; what kind of memory an
 * address is. */
#include "simcuda/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "simcuda/kept.h"
#include "simcuda/stream.h"

/* Few arguments of CUDA's functions matter here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- host memory ---- */

/*
 * Host memory that the device can access: allocated here, or registered. Its
 * ranges are sorted, as programs ask of any address what it is.
 */

struct range {
	uint64_t addr, size;
};

static struct {
	struct range *items;
	size_t count, room;
} ranges;

/* Index of the first range that begins after an address. */
static size_t after(uint64_t addr)
{
	return gp_sorted_above(
		GP_SORTED(ranges.items, ranges.count, struct range, addr),
		addr);
}

static bool host_has(uint64_t addr)
{
	size_t i = after(addr);

	return i && addr - ranges.items[i - 1].addr < ranges.items[i - 1].size;
}

static void add(void *pointer, uint64_t size)
{
	uint64_t addr = (uintptr_t)pointer;
	size_t i = after(addr);

	GP_GROW(ranges.items, ranges.count + 1, ranges.room);
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

static void forget_host(void)
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
	return allocate(CALL_cudaHostAlloc, pointer, size);
}

/* Managed memory is accessible from both sides; here it is on the host. */
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
	return allocate(CALL_cudaMallocManaged, pointer, size);
}

static cudaError_t host_free(void *pointer)
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
	process_begin(CALL_cudaHostGetDevicePointer);
	*device = pointer;
	return process_end(cudaSuccess);
}

/*
 * ---- virtual memory ----
 *
 * Reservations, physical memory by handle, and mappings.
 *
 * As in the driver, memory is taken when a handle is created, and returned when
 * the handle is both released and no longer mapped.
 */

struct handle {
	uint64_t size;
	int device;
	uint32_t mappings;
	uint32_t holds;	 /* not yet released: creation and imports */
	uint32_t number; /* of all that this process created */
	bool is_shared;	 /* other processes map it */
	bool is_others;	 /* created by another process, which took the memory */
};

/* A driver's handle is the index + 1. Free slots are reused. */
static struct {
	struct handle *items;
	uint32_t *spare;
	size_t count, room, spare_count, spare_room;
	uint32_t created;
	struct gp_map mapped; /* address -> index */
} handles;

static void forget_handles(void)
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
	GP_GROW(handles.items, handles.count + 1, handles.room);
	return (uint32_t)handles.count++;
}

static CUmemGenericAllocationHandle add_handle(const struct handle *handle)
{
	uint32_t index = new_handle();

	handles.items[index] = *handle;
	return (CUmemGenericAllocationHandle)index + 1;
}

/* Returns the memory if it is neither held nor mapped any more. */
static void settle(uint32_t index)
{
	struct handle *h = &handles.items[index];
	struct gp_device *memory;

	if (h->holds || h->mappings)
		return;
	memory = process_memory(h->device);
	if (!h->is_others)
		memory->ops->unmap(memory, 0, h->size, h->size);
	GP_GROW(handles.spare, handles.spare_count + 1, handles.spare_room);
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

/* The largest mapping, in grains, that is found from an address in its last
 * grain. */
#define MOST_GRAINS 65536

/* The device whose memory is mapped at an address; false: nothing is mapped. */
static bool virtual_device(uint64_t addr, int *device)
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
	*handle = add_handle(&(struct handle){ .size = size,
					       .device = device,
					       .holds = 1,
					       .number = ++handles.created });
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct handle *h;

	process_begin(CALL_cuMemRelease);
	h = find(handle);
	if (!h || !h->holds)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	h->holds--;
	settle((uint32_t)(handle - 1));
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct handle *h;

	process_begin(CALL_cuMemMap);
	h = find(handle);
	if (!h || offset + size > h->size ||
	    gp_map_get(&handles.mapped, address) != GP_MAP_NONE)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	h->mappings++;
	gp_map_put(&handles.mapped, address, (uint32_t)(handle - 1));
	if (h->is_shared)
		kept_share(address, size);
	return process_end_driver(CUDA_SUCCESS);
}

static void unshare(const struct handle *h, uint64_t addr)
{
	if (!h->is_shared)
		return;
	kept_forget(addr, h->size);
	kept_unshare(addr, h->size);
}

/* The range may contain several mappings, which begin on grains. */
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
		unshare(&handles.items[index], address + at);
		handles.items[index].mappings--;
		settle(index);
	}
	return process_end_driver(found ? CUDA_SUCCESS
					: CUDA_ERROR_INVALID_VALUE);
}

/*
 * Memory that other processes map: the handle is a file that says whose memory
 * it is. As with cudaIpcGetMemHandle (peer.c), the bytes are not shared.
 */

#define SHARED_KIND 0x4d454d56

struct shared {
	uint32_t kind;
	int32_t process, device;
	uint32_t number; /* of those that the process created */
	uint64_t size;
};

static void share_mappings(const struct handle *h)
{
	const struct gp_map *mapped = &handles.mapped;

	for (size_t i = 0; i < mapped->room; i++)
		if (mapped->slots[i].value != GP_MAP_NONE &&
		    &handles.items[mapped->slots[i].value] == h)
			kept_share(mapped->slots[i].key, h->size);
}

static int write_shared(const struct shared *shared)
{
	int file = gp_memfd("gpupool-memory");

	if (file >= 0 &&
	    write(file, shared, sizeof(*shared)) != (ssize_t)sizeof(*shared)) {
		close(file);
		return -1;
	}
	return file;
}

CUresult cuMemExportToShareableHandle(void *to,
				      CUmemGenericAllocationHandle handle,
				      int type, unsigned long long flags)
{
	struct handle *h;
	int file;

	process_begin(CALL_cuMemExportToShareableHandle);
	h = find(handle);
	if (!h || type != CU_MEM_HANDLE_TYPE_POSIX || h->is_others)
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	file = write_shared(&(struct shared){ SHARED_KIND, getpid(), h->device,
					      h->number, h->size });
	if (file < 0)
		return process_end_driver(CUDA_ERROR_OUT_OF_MEMORY);
	if (!ipc_is_of_block()) {
		h->is_shared = true;
		share_mappings(h);
	}
	memcpy(to, &file, sizeof(file));
	return process_end_driver(CUDA_SUCCESS);
}

static CUmemGenericAllocationHandle find_created(const struct shared *shared)
{
	for (size_t i = 0; i < handles.count; i++) {
		struct handle *h = &handles.items[i];

		if (h->size && !h->is_others && h->number == shared->number) {
			h->holds++;
			return i + 1;
		}
	}
	return 0;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *from, int type)
{
	struct shared shared = { 0 };
	ssize_t size;

	process_begin(CALL_cuMemImportFromShareableHandle);
	size = pread((int)(intptr_t)from, &shared, sizeof(shared), 0);
	if (type != CU_MEM_HANDLE_TYPE_POSIX ||
	    size != (ssize_t)sizeof(shared) || shared.kind != SHARED_KIND ||
	    !process_has_device(shared.device))
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	if (shared.process == getpid())
		*handle = find_created(&shared);
	else
		*handle = add_handle(&(struct handle){ .size = shared.size,
						       .device = shared.device,
						       .holds = 1,
						       .is_shared = true,
						       .is_others = true });
	return process_end_driver(*handle ? CUDA_SUCCESS
					  : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size,
			const CUmemAccessDesc *access, size_t count)
{
	process_begin(CALL_cuMemSetAccess);
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity,
				       const CUmemAllocationProp *prop,
				       int option)
{
	process_begin(CALL_cuMemGetAllocationGranularity);
	*granularity = GP_DEVICE_GRAIN;
	return process_end_driver(CUDA_SUCCESS);
}

/* Callers need no more than the base address. */
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

/* ---- cudaMalloc, and what an address is ---- */

static void *pointer_of(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

/* The cudaMalloc addresses of devices are 2^40 apart. */
#define ADDRESSES_SHIFT 40

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
		return process_end(host_free(pointer)); /* managed memory */
	kept_unshare((uintptr_t)pointer, size);
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

/* Host addresses may lie between those of devices: only ranges that were
 * returned count. */
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

/*
 * ---- pools ----
 *
 * cudaMallocAsync, and queries of its pool.
 *
 * A pool here caches nothing: memory comes from the device and returns to it at
 * once. So reserved equals used, whatever the release threshold is.
 */

struct CUmemPoolHandle_st {
	uint64_t threshold, used, used_high, reserved_high;
	int device, follow, opportunistic, internal;
	bool is_made; /* by the program, and not destroyed */
};

/* Each device's default pool, followed by the pools that the program creates.
 */
#define MOST_POOLS (SIMCUDA_MOST_DEVICES + 64)
static struct CUmemPoolHandle_st pools[MOST_POOLS];
/* address -> index of the pool, for pools created by the program */
static struct gp_map owners;

static void count(struct CUmemPoolHandle_st *pool, uint64_t size)
{
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->used > pool->reserved_high)
		pool->reserved_high = pool->used;
}

/* Called with the lock held; releases it. */
static cudaError_t take(void **pointer, size_t size, size_t index, int device,
			cudaStream_t stream)
{
	uint64_t addr = 0;

	stream_work((uintptr_t)stream);
	*pointer = NULL;
	if (size && !memory_take(device, size, &addr))
		return process_end(cudaErrorMemoryAllocation);
	count(&pools[index], process_grains(size) * GP_DEVICE_GRAIN);
	if (size && index >= SIMCUDA_MOST_DEVICES)
		gp_map_put(&owners, addr, (uint32_t)index);
	*pointer = (void *)(uintptr_t)addr;
	return process_end(cudaSuccess);
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
	int device = process_current_device();

	process_begin(CALL_cudaMallocAsync);
	return take(pointer, size, (size_t)device, device, stream);
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size,
				    cudaMemPool_t pool, cudaStream_t stream)
{
	process_begin(CALL_cudaMallocFromPoolAsync);
	return take(pointer, size, (size_t)(pool - pools), pool->device,
		    stream);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	uint64_t size;
	uint32_t owner;
	int device;

	process_begin(CALL_cudaFreeAsync);
	stream_work((uintptr_t)stream);
	if (!pointer)
		return process_end(cudaSuccess);
	if (!memory_give((uintptr_t)pointer, &device, &size))
		return process_end(cudaErrorInvalidValue);
	owner = gp_map_take(&owners, (uintptr_t)pointer);
	pools[owner == GP_MAP_NONE ? (uint32_t)device : owner].used -= size;
	return process_end(cudaSuccess);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
			      const struct cudaMemPoolProps *properties)
{
	int device = properties->location.id;

	process_begin(CALL_cudaMemPoolCreate);
	if (!process_has_device(device))
		return process_end(cudaErrorInvalidDevice);
	for (size_t i = SIMCUDA_MOST_DEVICES; i < MOST_POOLS; i++) {
		if (pools[i].is_made)
			continue;
		pools[i] = (struct CUmemPoolHandle_st){ .device = device,
							.is_made = true };
		*pool = &pools[i];
		return process_end(cudaSuccess);
	}
	return process_end(cudaErrorNotSupported);
}

/* Memory still allocated from it stays counted in it, which nobody can query.
 */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	process_begin(CALL_cudaMemPoolDestroy);
	if (!pool->is_made)
		return process_end(cudaErrorInvalidValue);
	pool->is_made = false;
	return process_end(cudaSuccess);
}

static cudaError_t default_pool(enum simcuda_call call, cudaMemPool_t *pool,
				int device)
{
	process_begin(call);
	if (!process_has_device(device))
		return process_end(cudaErrorInvalidDevice);
	pools[device].device = device;
	*pool = &pools[device];
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	return default_pool(CALL_cudaDeviceGetDefaultMemPool, pool, device);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	return default_pool(CALL_cudaDeviceGetMemPool, pool, device);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
				    enum cudaMemPoolAttr attribute, void *value)
{
	uint64_t *bytes = value;
	int *flag = value;

	process_begin(CALL_cudaMemPoolGetAttribute);
	switch (attribute) {
	case cudaMemPoolReuseFollowEventDependencies:
		*flag = pool->follow;
		break;
	case cudaMemPoolReuseAllowOpportunistic:
		*flag = pool->opportunistic;
		break;
	case cudaMemPoolReuseAllowInternalDependencies:
		*flag = pool->internal;
		break;
	case cudaMemPoolAttrReleaseThreshold: *bytes = pool->threshold; break;
	case cudaMemPoolAttrReservedMemCurrent:
	case cudaMemPoolAttrUsedMemCurrent: *bytes = pool->used; break;
	case cudaMemPoolAttrReservedMemHigh:
		*bytes = pool->reserved_high;
		break;
	case cudaMemPoolAttrUsedMemHigh: *bytes = pool->used_high; break;
	default: return process_end(cudaErrorInvalidValue);
	}
	return process_end(cudaSuccess);
}

/* High-water marks can only be reset, as in CUDA. */
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
				    enum cudaMemPoolAttr attribute, void *value)
{
	const uint64_t *bytes = value;
	const int *flag = value;

	process_begin(CALL_cudaMemPoolSetAttribute);
	switch (attribute) {
	case cudaMemPoolReuseFollowEventDependencies:
		pool->follow = *flag;
		break;
	case cudaMemPoolReuseAllowOpportunistic:
		pool->opportunistic = *flag;
		break;
	case cudaMemPoolReuseAllowInternalDependencies:
		pool->internal = *flag;
		break;
	case cudaMemPoolAttrReleaseThreshold: pool->threshold = *bytes; break;
	case cudaMemPoolAttrReservedMemHigh:
		pool->reserved_high = pool->used;
		break;
	case cudaMemPoolAttrUsedMemHigh: pool->used_high = pool->used; break;
	default: return process_end(cudaErrorInvalidValue);
	}
	return process_end(cudaSuccess);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
				 const struct cudaMemAccessDesc *access,
				 size_t n)
{
	process_begin(CALL_cudaMemPoolSetAccess);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t size)
{
	process_begin(CALL_cudaMemPoolTrimTo);
	return process_end(cudaSuccess);
}

/* Graphs hold no memory here. */
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute,
					   void *value)
{
	process_begin(CALL_cudaDeviceGetGraphMemAttribute);
	*(uint64_t *)value = 0;
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute,
					   void *value)
{
	process_begin(CALL_cudaDeviceSetGraphMemAttribute);
	return process_end(cudaSuccess);
}

void memory_forget(void)
{
	forget_host();
	forget_handles();
	memset(pools, 0, sizeof(pools));
	gp_map_release(&owners);
}
