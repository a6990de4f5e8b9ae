/* SPDX-License-Identifier: MIT */
/*
 * The part of NVIDIA's management library that PyTorch asks while it words an
 * out-of-memory error.  Numbers: nvml.h of the CUDA Toolkit 13.0.
 */
#ifndef SIMCUDA_API_NVML_H
#define SIMCUDA_API_NVML_H

#define NVML_SUCCESS		 0
#define NVML_ERROR_NOT_SUPPORTED 3

int nvmlInit_v2(void);
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
