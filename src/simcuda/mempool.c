/* SPDX-License-Identifier: MIT */
/*
 * Memory pools: cudaMallocAsync and what is asked of its pool.
 *
 * A pool here holds nothing back: memory comes from the device and returns to
 * it at once, so what is reserved is what is used, whatever the release
 * threshold says.
 */
#include <string.h>

#include "simcuda/memory.h"
#include "simcuda/stream.h"

struct CUmemPoolHandle_st {
	uint64_t threshold, used, used_high, reserved_high;
	int device, follow, opportunistic, internal;
};

/* Each device has its default pool and no other. */
static struct CUmemPoolHandle_st pools[SIMCUDA_MOST_DEVICES];

void pools_forget(void)
{
	memset(pools, 0, sizeof(pools));
}

static void count(struct CUmemPoolHandle_st *pool, uint64_t size)
{
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->used > pool->reserved_high)
		pool->reserved_high = pool->used;
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
	int device = process_current_device();
	uint64_t addr = 0;

	process_begin(CALL_cudaMallocAsync);
	stream_work((uintptr_t)stream);
	*pointer = NULL;
	if (size && !memory_take(device, size, &addr))
		return process_end(cudaErrorMemoryAllocation);
	count(&pools[device], process_grains(size) * GP_DEVICE_GRAIN);
	*pointer = (void *)(uintptr_t)addr;
	return process_end(cudaSuccess);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	uint64_t size;
	int device;

	process_begin(CALL_cudaFreeAsync);
	stream_work((uintptr_t)stream);
	if (!pointer)
		return process_end(cudaSuccess);
	if (!memory_give((uintptr_t)pointer, &device, &size))
		return process_end(cudaErrorInvalidValue);
	pools[device].used -= size;
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
