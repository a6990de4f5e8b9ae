/* SPDX-License-Identifier: MIT */
/* NVIDIA's management library, as far as an OOM message asks it. */
#include "simcuda/api/nvml.h"

#include <string.h>

#include "simcuda/process.h"

int nvmlInit_v2(void)
{
	process_begin(CALL_nvmlInit_v2);
	process_end(cudaSuccess);
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
