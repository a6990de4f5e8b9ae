/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the driver, which are devices here, and what it says of addresses
 * and streams to those that came without the runtime.
 */
#include <string.h>

#include "simcuda/memory.h"

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
				    int *active);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
				    int *active)
{
	(void)device;
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	*context = (CUcontext)(uintptr_t)(device + 1);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = process_current_device();
	return CUDA_SUCCESS;
}

/* CUlimit 1: bytes for what kernels print, of which the first MiB is there
 * unless more is asked for. */
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuCtxGetLimit(size_t *value, int limit)
{
	*value = limit == 1 ? 1 << 20 : 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(cudaStream_t stream,
			     enum cudaStreamCaptureStatus *status);
CUresult cuStreamIsCapturing(cudaStream_t stream,
			     enum cudaStreamCaptureStatus *status)
{
	return (CUresult)cudaStreamIsCapturing(stream, status);
}

/* CUpointer_attribute */
enum attribute {
	CONTEXT = 1,
	MEMORY_TYPE = 2,
	DEVICE_POINTER = 3,
	HOST_POINTER = 4,
	DEVICE = 9,
};

static CUresult tell(void *value, enum attribute attribute,
		     const struct cudaPointerAttributes *a)
{
	uint64_t context = (uint64_t)a->device + 1;

	switch (attribute) {
	case CONTEXT: memcpy(value, &context, 8); break;
	case MEMORY_TYPE: memcpy(value, &a->type, 4); break;
	case DEVICE_POINTER: memcpy(value, &a->devicePointer, 8); break;
	case HOST_POINTER: memcpy(value, &a->hostPointer, 8); break;
	case DEVICE: memcpy(value, &a->device, 4); break;
	default: return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer);
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer)
{
	struct cudaPointerAttributes a;

	cudaPointerGetAttributes(&a, (const void *)(uintptr_t)pointer);
	if (a.type == cudaMemoryTypeUnregistered)
		return CUDA_ERROR_INVALID_VALUE;
	return tell(value, (enum attribute)attribute, &a);
}
