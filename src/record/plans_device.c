/* SPDX-License-Identifier: MIT */
/*
 * A device as cuDNN describes it to itself: CUDNN_ATTR_DEVICEPROP_JSON_-
 * REPRESENTATION.  Names: what cuDNN 9.10 to 9.28 say is missing of a
 * description that lacks them; their values are CUDA's attributes of these
 * names, which a device of the table has.
 */
#include "record/plans.h"

#include <inttypes.h>
#include <stdio.h>

/* The driver that came with the last CUDA of a major version: which one there
 * is on the device's machine nobody can know. */
static int driver_of(unsigned cuda)
{
	return cuda >= 13 ? 13000 : 12090;
}

/* Bytes of a block's shared memory that the driver keeps: CUDA C++ Programming
 * Guide, compute capabilities 8.x and later. */
static int reserved(const struct simcuda_properties *p)
{
	return p->major >= 8 ? 1024 : 0;
}

size_t gp_plans_describe(const struct gp_gpu *gpu, unsigned cuda, char *text,
			 size_t size)
{
	const struct simcuda_properties *p = &gpu->properties;
	int n = snprintf(
		text, size,
		"{\"cudaDeviceId\":0,\"deviceName\":\"%s\",\"deviceVer\":%d,"
		"\"driverVer\":%d,\"totalGlobalMem\":%" PRIu64
		",\"multiProcessorCount\":%d,\"smClockRateKHz\":%d,"
		"\"memClockRateKHz\":%d,\"memoryBusWidth\":%d,"
		"\"l2CacheSize\":%d,\"warpSize\":32,"
		"\"maxGridSize\":[2147483647,65535,65535],"
		"\"maxBlockSize\":[1024,1024,64],\"maxThreadsPerBlock\":1024,"
		"\"maxThreadsPerSM\":%d,\"maxCtasPerSM\":%d,"
		"\"regsPerBlock\":65536,\"maxRegistersPerSM\":65536,"
		"\"maxSharedMemoryPerBlock\":%d,"
		"\"maxSharedMemoryPerBlockOptin\":%d,"
		"\"reservedSharedMemoryPerBlock\":%d,"
		"\"oversizedSharedMemoryPerBlock\":0,\"pciDeviceId\":0,"
		"\"isTccDriver\":0,\"supportCoopLaunch\":1}",
		p->name, p->major * 100 + p->minor * 10, driver_of(cuda),
		gpu->capacity, p->multiprocessors, p->clock_khz,
		p->memory_clock_khz, p->bus_width_bits, p->l2_bytes,
		p->threads_per_sm, p->blocks_per_sm, p->shared_per_block,
		p->shared_per_block_optin, reserved(p));

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}
