/* SPDX-License-Identifier: MIT */
/* Devices: how many, which one is current, what they can. */
#include <stdint.h>
#include <stdio.h>

#include "simcuda/properties.h"

/* Numbers of cudaDeviceAttr and CUdevice_attribute, which are the same: CUDA
 * Toolkit 13.0, driver_types.h. Kernels' launchers go by them: cub divides a
 * grid by the largest one. */
int properties_attribute(int attribute, int device)
{
	const struct simcuda_properties *p = properties_of(device);

	switch (attribute) {
	case 1: /* threads of a block */
	case 2: /* in x */
	case 3: return 1024;
	case 4: return 64;
	case 5: return INT32_MAX; /* blocks of a grid in x */
	case 6:
	case 7: return 65535;
	case 8: return p->shared_per_block;
	case 9: return 65536;	   /* bytes of constants */
	case 10: return 32;	   /* threads of a warp */
	case 11: return INT32_MAX; /* pitch */
	case 12: return 65536;	   /* registers of a block */
	case 13: return p->clock_khz;
	case 14: return 512; /* alignment of textures */
	case CU_ATTRIBUTE_MULTIPROCESSORS: return p->multiprocessors;
	case 31: return 1; /* concurrent kernels */
	case 36: return p->memory_clock_khz;
	case 37: return p->bus_width_bits;
	case 38: return p->l2_bytes;
	case 39: return properties_threads(p);
	case 41: return 1; /* unified addressing */
	case CU_ATTRIBUTE_MAJOR: return p->major;
	case CU_ATTRIBUTE_MINOR: return p->minor;
	case 78: return 1; /* priorities of streams */
	case 81: return p->shared_per_sm;
	case 82: return 65536; /* registers of a multiprocessor */
	case 95: return 1;     /* cooperative launches */
	case 97: return p->shared_per_block_optin;
	case 106: return properties_blocks(p);
	case CU_ATTRIBUTE_VIRTUAL_MEMORY:
	case CU_ATTRIBUTE_MEMORY_POOLS: return 1;
	default: return 0;
	}
}

cudaError_t cudaGetDeviceCount(int *count)
{
	process_tell_observer();
	process_begin(CALL_cudaGetDeviceCount);
	*count = process.device_count;
	return process_end(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
	process_begin(CALL_cudaGetDevice);
	*device = process_current_device();
	return process_end(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
	process_begin(CALL_cudaSetDevice);
	if (!process_has_device(device))
		return process_end(cudaErrorInvalidDevice);
	process_set_current_device(device);
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	process_begin(CALL_cudaDeviceGetAttribute);
	if (!process_has_device(device))
		return process_end(cudaErrorInvalidDevice);
	*value = properties_attribute(attribute, device);
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
	process_begin(CALL_cudaDeviceGetPCIBusId);
	if (length <= 0 || !process_has_device(device))
		return process_end(cudaErrorInvalidValue);
	snprintf(text, (size_t)length, "0000:%02X:00.0", device + 1);
	return process_end(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

/* ---- the same through the driver ---- */

CUresult cuInit(unsigned flags)
{
	(void)flags;
	process_begin(CALL_cuInit);
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
	process_begin(CALL_cuDriverGetVersion);
	*version = CUDA_VERSION;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	process_begin(CALL_cuDeviceGet);
	if (!process_has_device(ordinal))
		return process_end_driver(CUDA_ERROR_INVALID_DEVICE);
	*device = ordinal;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *count)
{
	process_begin(CALL_cuDeviceGetCount);
	*count = process.device_count;
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	process_begin(CALL_cuDeviceGetAttribute);
	if (!process_has_device(device))
		return process_end_driver(CUDA_ERROR_INVALID_DEVICE);
	*value = properties_attribute(attribute, device);
	return process_end_driver(CUDA_SUCCESS);
}

/* A device's primary context is its ordinal + 1. */
CUresult cuCtxGetCurrent(CUcontext *context)
{
	process_begin(CALL_cuCtxGetCurrent);
	*context = (CUcontext)(uintptr_t)(process_current_device() + 1);
	return process_end_driver(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	int device = (int)(uintptr_t)context - 1;

	process_begin(CALL_cuCtxSetCurrent);
	if (!process_has_device(device))
		return process_end_driver(CUDA_ERROR_INVALID_VALUE);
	process_set_current_device(device);
	return process_end_driver(CUDA_SUCCESS);
}
