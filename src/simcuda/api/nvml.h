/* SPDX-License-Identifier: MIT */
/*
 * The part of NVIDIA's management library that PyTorch asks while it words an
 * out-of-memory error, and what programs ask to learn which devices there are.
 * Numbers: nvml.h of the CUDA Toolkit 13.0.
 */
#ifndef SIMCUDA_API_NVML_H
#define SIMCUDA_API_NVML_H

#define NVML_SUCCESS		 0
#define NVML_ERROR_INVALID	 2
#define NVML_ERROR_NOT_SUPPORTED 3

int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int error);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetIndex(void *device, unsigned *index);
int nvmlDeviceGetName(void *device, char *name, unsigned length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);

struct nvml_memory {
	unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
/* No process is on the device: *count becomes 0. */
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
					 void *infos);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
					void *info);
int nvmlDeviceGetGpuFabricInfoV(void *device, void *info);
int nvmlSystemGetCudaDriverVersion_v2(int *version);

#endif
