/* SPDX-License-Identifier: MIT */
/*
 * Memory pools: cudaMallocAsync and what is asked of its pool.
 *
 * A pool here holds nothing back: memory comes from the device and returns to
 * it at once, so what is reserved is what is used, whatever the release
 * threshold says.
 */
#include <string.h>

#include "base/map.h"
#include "simcuda/memory.h"
#include "simcuda/stream.h"

struct CUmemPoolHandle_st {
	uint64_t threshold, used, used_high, reserved_high;
	int device, follow, opportunistic, internal;
	bool is_made; /* by the program, and not destroyed */
};

/* Each device's default pool, and then those that the program makes. */
#define MOST_POOLS (SIMCUDA_MOST_DEVICES + 64)
static struct CUmemPoolHandle_st pools[MOST_POOLS];
/* An address -> which of those that the program made it is from. */
static struct gp_map owners;

void pools_forget(void)
{
	memset(pools, 0, sizeof(pools));
	gp_map_release(&owners);
}

static void count(struct CUmemPoolHandle_st *pool, uint64_t size)
{
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->used > pool->reserved_high)
		pool->reserved_high = pool->used;
}

/* With the lock held, which it gives up. */
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

/* What is still used of it goes on counting where nobody asks. */
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

/* High marks can only be set to where they begin anew. */
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
	(void)pool;
	(void)access;
	(void)n;
	process_begin(CALL_cudaMemPoolSetAccess);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t size)
{
	(void)pool;
	(void)size;
	process_begin(CALL_cudaMemPoolTrimTo);
	return process_end(cudaSuccess);
}

/* Graphs hold no memory. */
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute,
					   void *value)
{
	(void)device;
	(void)attribute;
	process_begin(CALL_cudaDeviceGetGraphMemAttribute);
	*(uint64_t *)value = 0;
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute,
					   void *value)
{
	(void)device;
	(void)attribute;
	(void)value;
	process_begin(CALL_cudaDeviceSetGraphMemAttribute);
	return process_end(cudaSuccess);
}
