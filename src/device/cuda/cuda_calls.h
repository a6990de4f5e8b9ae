/* SPDX-License-Identifier: MIT */
/*
 * The part of CUDA's runtime and driver that is used here, declared again so
 * that building needs no toolkit: names, numbers and layouts are those of the
 * CUDA Runtime API and the CUDA Driver API, in driver_types.h and cuda.h of the
 * toolkits 11.8, 12.9 and 13.0, which agree about all of them.
 */
#ifndef DEVICE_CUDA_CALLS_H
#define DEVICE_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* cudaError_t and CUresult */
#define CUDA_OK		       0
#define CUDA_OUT_OF_MEMORY     2  /* both of them */
#define CUDA_OLD_DRIVER	       35 /* cudaErrorInsufficientDriver */
#define CUDA_NOT_READY	       600
#define CUDA_NOT_SUPPORTED     801
#define CUDA_NO_TIMING	       0x2 /* cudaEventDisableTiming */
#define CUDA_NON_BLOCKING      0x1 /* cudaStreamNonBlocking */
#define CUDA_TO_DEVICE	       1   /* cudaMemcpyHostToDevice */
#define CUDA_TO_HOST	       2   /* cudaMemcpyDeviceToHost */
#define CUDA_PINNED	       1   /* CU_MEM_ALLOCATION_TYPE_PINNED */
#define CUDA_LOCATION_DEVICE   1   /* CU_MEM_LOCATION_TYPE_DEVICE */
#define CUDA_READ_WRITE	       3   /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
#define CUDA_ATTACH_GLOBAL     1   /* cudaMemAttachGlobal */
#define CUDA_CAPABILITY_MAJOR  75  /* cudaDevAttrComputeCapabilityMajor */
#define CUDA_CAPABILITY_MINOR  76
#define CUDA_PROPERTIES_NAME   256  /* bytes; at offset 0 in each version */
#define CUDA_PROPERTIES_ENOUGH 8192 /* bytes; more than any version has */

/* enum cudaMemPoolAttr: the first three are int, the others uint64_t. */
enum cuda_pool_attribute {
	CUDA_POOL_FOLLOW_EVENTS = 1,
	CUDA_POOL_OPPORTUNISTIC = 2,
	CUDA_POOL_INTERNAL = 3,
	CUDA_POOL_THRESHOLD = 4,
	CUDA_POOL_RESERVED = 5,
	CUDA_POOL_RESERVED_HIGH = 6,
	CUDA_POOL_USED = 7,
	CUDA_POOL_USED_HIGH = 8,
};

/* CUmemLocation, CUmemAllocationProp, CUmemAccessDesc */
struct cuda_location {
	int type, id;
};

struct cuda_allocation {
	int type, handle_types;
	struct cuda_location location;
	void *win32;
	unsigned char flags[8];
};

struct cuda_access {
	struct cuda_location location;
	int flags;
};

typedef unsigned long long cuda_addr; /* CUdeviceptr: an address, a handle */

/* Functions that every version of the runtime and the driver has. */
#define CUDA_CALLS(X)                                                          \
	X(cudaMalloc, (void **pointer, size_t size))                           \
	X(cudaFree, (void *pointer))                                           \
	X(cudaMemGetInfo, (size_t * free_bytes, size_t * total))               \
	X(cudaMemset, (void *at, int value, size_t size))                      \
	X(cudaMemcpy, (void *to, const void *from, size_t size, int kind))     \
	X(cudaGetDeviceCount, (int *count))                                    \
	X(cudaSetDevice, (int device))                                         \
	X(cudaGetDeviceProperties, (void *properties, int device))             \
	X(cudaDeviceGetAttribute, (int *value, int attribute, int device))     \
	X(cudaDriverGetVersion, (int *version))                                \
	X(cudaRuntimeGetVersion, (int *version))                               \
	X(cudaDeviceSynchronize, (void))                                       \
	X(cudaGetLastError, (void))                                            \
	X(cudaStreamCreateWithFlags, (void **stream, unsigned flags))          \
	X(cudaStreamDestroy, (void *stream))                                   \
	X(cudaStreamSynchronize, (void *stream))                               \
	X(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags))    \
	X(cudaEventCreateWithFlags, (void **event, unsigned flags))            \
	X(cudaEventDestroy, (void *event))                                     \
	X(cudaEventRecord, (void *event, void *stream))                        \
	X(cudaEventQuery, (void *event))                                       \
	X(cudaMallocAsync, (void **pointer, size_t size, void *stream))        \
	X(cudaFreeAsync, (void *pointer, void *stream))                        \
	X(cudaDeviceGetDefaultMemPool, (void **pool, int device))              \
	X(cudaMemPoolGetAttribute, (void *pool, int attribute, void *value))   \
	X(cudaMemPoolSetAttribute, (void *pool, int attribute, void *value))   \
	X(cudaMemPoolTrimTo, (void *pool, size_t size))                        \
	X(cuMemAddressReserve,                                                 \
	  (cuda_addr * address, size_t size, size_t align, cuda_addr at,       \
	   unsigned long long flags))                                          \
	X(cuMemAddressFree, (cuda_addr address, size_t size))                  \
	X(cuMemCreate,                                                         \
	  (cuda_addr * handle, size_t size,                                    \
	   const struct cuda_allocation *kind, unsigned long long flags))      \
	X(cuMemRelease, (cuda_addr handle))                                    \
	X(cuMemMap, (cuda_addr address, size_t size, size_t offset,            \
		     cuda_addr handle, unsigned long long flags))              \
	X(cuMemUnmap, (cuda_addr address, size_t size))                        \
	X(cuMemSetAccess, (cuda_addr address, size_t size,                     \
			   const struct cuda_access *access, size_t count))

/* Functions that may be missing, and are then NULL. */
#define CUDA_CALLS_MAYBE(X)                                                    \
	X(cudaMallocManaged, (void **pointer, size_t size, unsigned flags))    \
	X(nvmlInit_v2, (void))                                                 \
	X(nvmlSystemGetDriverVersion, (char *version, unsigned room))

struct cuda_calls {
#define CUDA_MEMBER(name, arguments) int(*name) arguments;
	CUDA_CALLS(CUDA_MEMBER)
	CUDA_CALLS_MAYBE(CUDA_MEMBER)
#undef CUDA_MEMBER
	const char *(*cudaGetErrorString)(int error);
	const char *(*cudaGetErrorName)(int error);
};

#endif
