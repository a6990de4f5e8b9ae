/* SPDX-License-Identifier: MIT */
/* NVIDIA's management library, as far as an OOM message asks it, and a program
 * that wants to know its devices.  A device's handle is its place here. */
#include "simcuda/api/nvml.h"

#include <stdio.h>
#include <string.h>

#include "simcuda/process.h"
#include "simcuda/device.h"

int nvmlInit_v2(void)
{
	process_begin(CALL_nvmlInit_v2);
	process_end(cudaSuccess);
	return NVML_SUCCESS;
}

int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return nvmlInit_v2();
}

int nvmlShutdown(void)
{
	return NVML_SUCCESS;
}

const char *nvmlErrorString(int error)
{
	return error == NVML_SUCCESS		   ? "Success"
	       : error == NVML_ERROR_NOT_SUPPORTED ? "Not Supported"
						   : "Invalid Argument";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)process.device_count;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	if (index >= (unsigned)process.device_count)
		return NVML_ERROR_INVALID;
	*device = &process.devices[index];
	return NVML_SUCCESS;
}

/* The first, where another call named it. */
static int ordinal(const void *device)
{
	for (int i = 0; i < process.device_count; i++)
		if (device == &process.devices[i])
			return i;
	return 0;
}

int nvmlDeviceGetIndex(void *device, unsigned *index)
{
	*index = (unsigned)ordinal(device);
	return NVML_SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length)
{
	process_lock();
	snprintf(name, length, "%s", properties_of(ordinal(device))->name);
	process_unlock();
	return NVML_SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
	snprintf(uuid, length, "GPU-00000000-0000-0000-0000-%012d",
		 ordinal(device));
	return NVML_SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
	const struct simcuda_properties *p;

	process_lock();
	p = properties_of(ordinal(device));
	*major = p->major;
	*minor = p->minor;
	process_unlock();
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory)
{
	struct gp_device *of;
	uint64_t free, total;

	process_lock();
	of = process_memory(ordinal(device));
	of->ops->info(of, &free, &total);
	process_unlock();
	memory->total = total;
	memory->free = free;
	memory->used = total - free;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
	(void)bus_id;
	process_begin(CALL_nvmlDeviceGetHandleByPciBusId_v2);
	*device = &process;
	process_end(cudaSuccess);
	return NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
					 void *infos)
{
	(void)device;
	(void)infos;
	process_begin(CALL_nvmlDeviceGetComputeRunningProcesses);
	*count = 0;
	process_end(cudaSuccess);
	return NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
	(void)device;
	(void)link;
	(void)type;
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *info)
{
	(void)device;
	(void)link;
	(void)info;
	return NVML_ERROR_NOT_SUPPORTED;
}

/* Devices from compute capability 9.0 on must answer; this one is in no
 * fabric.  All versions of the struct begin like this. */
int nvmlDeviceGetGpuFabricInfoV(void *device, void *info)
{
	struct {
		unsigned version;
		unsigned char cluster[16];
		int status;
		unsigned clique;
		unsigned char state; /* 0: NOT_SUPPORTED */
	} *fabric = info;

	(void)device;
	memset(fabric->cluster, 0, sizeof(fabric->cluster));
	fabric->status = 0;
	fabric->clique = 0;
	fabric->state = 0;
	return NVML_SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = CUDART_VERSION;
	return NVML_SUCCESS;
}
