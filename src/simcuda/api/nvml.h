/* SPDX-License-Identifier: MIT */
/*
 * The part of NVIDIA's management library that PyTorch calls for its
 * out-of-memory message, and that programs call to list and monitor devices.
 * Numbers: nvml.h of CUDA Toolkit 13.0.
 */
#ifndef SIMCUDA_API_NVML_H
#define SIMCUDA_API_NVML_H

#define NVML_SUCCESS		 0
#define NVML_ERROR_INVALID	 2
#define NVML_ERROR_NOT_SUPPORTED 3
#define NVML_ERROR_NOT_FOUND	 6

#define NVML_P2P_CAPS_INDEX_NVLINK    2
#define NVML_P2P_STATUS_OK	      0
#define NVML_P2P_STATUS_NOT_SUPPORTED 5

int nvmlInit(void);
int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int error);
int nvmlDeviceGetCount(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetIndex(void *device, unsigned *index);
int nvmlDeviceGetName(void *device, char *name, unsigned length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);

struct nvml_memory {
	unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory);
struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(void *device, struct nvml_memory_v2 *memory);
int nvmlDeviceGetHandleByPciBusId(const char *bus_id, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
struct nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};
int nvmlDeviceGetPciInfo(void *device, struct nvml_pci *pci);
int nvmlDeviceGetPciInfo_v2(void *device, struct nvml_pci *pci);
int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci);
int nvmlDeviceGetMinorNumber(void *device, unsigned *minor);
/* No process is on the device: *count becomes 0. */
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
					 void *infos);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count,
					    void *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
					    void *infos);
int nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count,
					     void *infos);
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count,
					     void *infos);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
					void *info);
int nvmlDeviceGetGpuFabricInfoV(void *device, void *info);
int nvmlDeviceGetP2PStatus(void *device, void *other, int what, int *status);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *is_active);
int nvmlSystemGetCudaDriverVersion(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlSystemGetNVMLVersion(char *version, unsigned length);

/* ---- monitoring ---- */

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};
int nvmlDeviceGetUtilizationRates(void *device, struct nvml_utilization *rates);
int nvmlDeviceGetEncoderUtilization(void *device, unsigned *percent,
				    unsigned *over_us);
int nvmlDeviceGetDecoderUtilization(void *device, unsigned *percent,
				    unsigned *over_us);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetTotalEnergyConsumption(void *device,
					unsigned long long *millijoules);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetPerformanceState(void *device, int *state);
int nvmlDeviceGetPcieThroughput(void *device, int counter,
				unsigned *kb_a_second);
int nvmlDeviceGetMemoryBusWidth(void *device, unsigned *bits);
int nvmlDeviceGetFanSpeed(void *device, unsigned *percent);
int nvmlDeviceGetEccMode(void *device, int *now, int *pending);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending);

#endif
