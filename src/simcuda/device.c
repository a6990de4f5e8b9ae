/* SPDX-License-Identifier: MIT */
/* Which devices exist, which one is current, and their properties. */
#include "simcuda/device.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- struct cudaDeviceProp ---- */

/*
 * Its layout differs between CUDA's major versions: members removed in 13 shift
 * the others. The table has the offset of each member, as offsetof gives it
 * with driver_types.h of CUDA Toolkit 11.8, 12.9 and 13.0.
 */

/* The default: an H100 80 GB, by its data sheet and its cudaDeviceProp. */
static const struct gp_gpu_properties h100 = {
	.name = "gpupool simulated device",
	.major = 9,
	.minor = 0,
	.multiprocessors = 132,
	.l2_bytes = 50 << 20,
	.bus_width_bits = 5120,
	.shared_per_block = 48 << 10,
	.shared_per_block_optin = 227 << 10,
	.shared_per_sm = 228 << 10,
	.clock_khz = 1980000,
	.memory_clock_khz = 2619000,
};

enum member {
	NAME,
	TOTAL_MEMORY,
	SHARED_PER_BLOCK,
	REGISTERS_PER_BLOCK,
	WARP,
	MEM_PITCH,
	THREADS_PER_BLOCK,
	THREADS_X,
	THREADS_Y,
	THREADS_Z,
	GRID_X,
	GRID_Y,
	GRID_Z,
	CLOCK,
	CONSTANT_MEMORY,
	MAJOR,
	MINOR,
	TEXTURE_ALIGNMENT,
	MULTIPROCESSORS,
	CAN_MAP_HOST,
	CONCURRENT_KERNELS,
	PCI_BUS,
	ASYNC_ENGINES,
	UNIFIED_ADDRESSING,
	MEMORY_CLOCK,
	BUS_WIDTH,
	L2,
	THREADS_PER_SM,
	STREAM_PRIORITIES,
	SHARED_PER_SM,
	REGISTERS_PER_SM,
	MANAGED_MEMORY,
	COOPERATIVE_LAUNCH,
	SHARED_OPTIN,
	BLOCKS_PER_SM,
	MEMORY_POOLS,
	MEMBERS,
};

#define NOWHERE UINT16_MAX

struct place {
	uint16_t cuda11, cuda12, cuda13;
	uint8_t bytes;
};

static const struct place places[MEMBERS] = {
	[NAME] = { 0, 0, 0, 0 },
	[TOTAL_MEMORY] = { 288, 288, 288, 8 },
	[SHARED_PER_BLOCK] = { 296, 296, 296, 8 },
	[REGISTERS_PER_BLOCK] = { 304, 304, 304, 4 },
	[WARP] = { 308, 308, 308, 4 },
	[MEM_PITCH] = { 312, 312, 312, 8 },
	[THREADS_PER_BLOCK] = { 320, 320, 320, 4 },
	[THREADS_X] = { 324, 324, 324, 4 },
	[THREADS_Y] = { 328, 328, 328, 4 },
	[THREADS_Z] = { 332, 332, 332, 4 },
	[GRID_X] = { 336, 336, 336, 4 },
	[GRID_Y] = { 340, 340, 340, 4 },
	[GRID_Z] = { 344, 344, 344, 4 },
	[CLOCK] = { 348, 348, NOWHERE, 4 },
	[CONSTANT_MEMORY] = { 352, 352, 352, 8 },
	[MAJOR] = { 360, 360, 360, 4 },
	[MINOR] = { 364, 364, 364, 4 },
	[TEXTURE_ALIGNMENT] = { 368, 368, 368, 8 },
	[MULTIPROCESSORS] = { 388, 388, 384, 4 },
	[CAN_MAP_HOST] = { 400, 400, 392, 4 },
	[CONCURRENT_KERNELS] = { 576, 576, 560, 4 },
	[PCI_BUS] = { 584, 584, 568, 4 },
	[ASYNC_ENGINES] = { 600, 600, 584, 4 },
	[UNIFIED_ADDRESSING] = { 604, 604, 588, 4 },
	[MEMORY_CLOCK] = { 608, 608, NOWHERE, 4 },
	[BUS_WIDTH] = { 612, 612, 592, 4 },
	[L2] = { 616, 616, 596, 4 },
	[THREADS_PER_SM] = { 624, 624, 604, 4 },
	[STREAM_PRIORITIES] = { 628, 628, 608, 4 },
	[SHARED_PER_SM] = { 640, 640, 624, 8 },
	[REGISTERS_PER_SM] = { 648, 648, 632, 4 },
	[MANAGED_MEMORY] = { 652, 652, 636, 4 },
	[COOPERATIVE_LAUNCH] = { 688, 688, 668, 4 },
	[SHARED_OPTIN] = { 696, 696, 672, 8 },
	[BLOCKS_PER_SM] = { 712, 712, 688, 4 },
	[MEMORY_POOLS] = { NOWHERE, 744, 720, 4 },
};

static uint16_t place_in(const struct place *place, int cuda)
{
	return cuda == 11   ? place->cuda11
	       : cuda == 12 ? place->cuda12
			    : place->cuda13;
}

static size_t size_in(int cuda)
{
	return cuda == 11 ? 728 : cuda == 12 ? 1032 : 1008;
}

const struct gp_gpu_properties *properties_of(int device)
{
	const struct gp_gpu_properties *p = &process.devices[device].properties;

	return *p->name ? p : &h100;
}

int properties_threads(const struct gp_gpu_properties *p)
{
	return p->threads_per_sm ? p->threads_per_sm : 2048;
}

int properties_blocks(const struct gp_gpu_properties *p)
{
	return p->blocks_per_sm ? p->blocks_per_sm : 32;
}

static uint64_t total_memory(int device)
{
	struct gp_device *memory = process_memory(device);
	uint64_t free_bytes, total;

	memory->ops->info(memory, &free_bytes, &total);
	return total;
}

/* Values common to all devices since Volta, except for the rows taken from the
 * properties. */
static void fill(uint64_t values[MEMBERS], int device)
{
	const struct gp_gpu_properties *p = properties_of(device);

	memcpy(values,
	       (const uint64_t[MEMBERS]){
		       [TOTAL_MEMORY] = total_memory(device),
		       [SHARED_PER_BLOCK] = (uint64_t)p->shared_per_block,
		       [REGISTERS_PER_BLOCK] = 65536,
		       [WARP] = 32,
		       [MEM_PITCH] = INT32_MAX,
		       [THREADS_PER_BLOCK] = 1024,
		       [THREADS_X] = 1024,
		       [THREADS_Y] = 1024,
		       [THREADS_Z] = 64,
		       [GRID_X] = INT32_MAX,
		       [GRID_Y] = 65535,
		       [GRID_Z] = 65535,
		       [CLOCK] = (uint64_t)p->clock_khz,
		       [CONSTANT_MEMORY] = 65536,
		       [MAJOR] = (uint64_t)p->major,
		       [MINOR] = (uint64_t)p->minor,
		       [TEXTURE_ALIGNMENT] = 512,
		       [MULTIPROCESSORS] = (uint64_t)p->multiprocessors,
		       [CAN_MAP_HOST] = 1,
		       [CONCURRENT_KERNELS] = 1,
		       [PCI_BUS] = (uint64_t)device + 1,
		       [ASYNC_ENGINES] = 3,
		       [UNIFIED_ADDRESSING] = 1,
		       [MEMORY_CLOCK] = (uint64_t)p->memory_clock_khz,
		       [BUS_WIDTH] = (uint64_t)p->bus_width_bits,
		       [L2] = (uint64_t)p->l2_bytes,
		       [THREADS_PER_SM] = (uint64_t)properties_threads(p),
		       [STREAM_PRIORITIES] = 1,
		       [SHARED_PER_SM] = (uint64_t)p->shared_per_sm,
		       [REGISTERS_PER_SM] = 65536,
		       [MANAGED_MEMORY] = 1,
		       [COOPERATIVE_LAUNCH] = 1,
		       [SHARED_OPTIN] = (uint64_t)p->shared_per_block_optin,
		       [BLOCKS_PER_SM] = (uint64_t)properties_blocks(p),
		       [MEMORY_POOLS] = 1,
	       },
	       MEMBERS * sizeof(*values));
}

void properties_write(void *prop, int cuda, int device)
{
	uint64_t values[MEMBERS];
	char *to = prop;

	fill(values, device);
	memset(to, 0, size_in(cuda));
	memcpy(to, properties_of(device)->name, 256);
	for (int i = NAME + 1; i < MEMBERS; i++)
		if (place_in(&places[i], cuda) != NOWHERE)
			/* little-endian: the low bytes come first */
			memcpy(to + place_in(&places[i], cuda), &values[i],
			       places[i].bytes);
}

static cudaError_t properties(enum simcuda_call call, void *prop, int cuda,
			      int device)
{
	process_begin(call);
	if (!process_has_device(device))
		return process_end(cudaErrorInvalidDevice);
	properties_write(prop, cuda, device);
	return process_end(cudaSuccess);
}

/* In CUDA 12 the name without a suffix still uses the layout of 11. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	return properties(CALL_cudaGetDeviceProperties, prop,
			  SIMCUDA_MAJOR >= 13 ? 13 : 11, device);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
	return properties(CALL_cudaGetDeviceProperties_v2, prop,
			  SIMCUDA_MAJOR >= 13 ? 13 : 12, device);
}

/* ---- attributes, and which device ---- */

/* Numbers of cudaDeviceAttr and CUdevice_attribute, which are the same: CUDA
 * Toolkit 13.0, driver_types.h. Code that launches kernels depends on them: cub
 * divides a grid by the maximum size. */
static int properties_attribute(int attribute, int device)
{
	const struct gp_gpu_properties *p = properties_of(device);

	switch (attribute) {
	case 1: /* threads per block */
	case 2: /* in x */
	case 3: return 1024;
	case 4: return 64;
	case 5: return INT32_MAX; /* blocks per grid in x */
	case 6:
	case 7: return 65535;
	case 8: return p->shared_per_block;
	case 9: return 65536;	   /* bytes of constant memory */
	case 10: return 32;	   /* threads per warp */
	case 11: return INT32_MAX; /* pitch */
	case 12: return 65536;	   /* registers per block */
	case 13: return p->clock_khz;
	case 14: return 512; /* texture alignment */
	case CU_ATTRIBUTE_MULTIPROCESSORS: return p->multiprocessors;
	case 31: return 1; /* concurrent kernels */
	case 36: return p->memory_clock_khz;
	case 37: return p->bus_width_bits;
	case 38: return p->l2_bytes;
	case 39: return properties_threads(p);
	case 41: return 1; /* unified addressing */
	case CU_ATTRIBUTE_MAJOR: return p->major;
	case CU_ATTRIBUTE_MINOR: return p->minor;
	case 78: return 1; /* stream priorities */
	case 81: return p->shared_per_sm;
	case 82: return 65536; /* registers per multiprocessor */
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
	process_notify_count();
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

/* The handle of a device's primary context is its ordinal + 1. */
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
