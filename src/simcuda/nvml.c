/* SPDX-License-Identifier: MIT */
/* NVIDIA's management library, as far as it is used by PyTorch's out-of-memory
 * message and by programs that list their devices. A device's handle points
 * into process.devices. */
#include "simcuda/api/nvml.h"

#include <stdio.h>
#include <string.h>

#include "simcuda/device.h"
#include "simcuda/process.h"

/* Few arguments of CUDA's functions matter here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int nvmlInit_v2(void)
{
	process_begin(CALL_nvmlInit_v2);
	process_end(cudaSuccess);
	return NVML_SUCCESS;
}

int nvmlInitWithFlags(unsigned flags)
{
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
	       : error == NVML_ERROR_NOT_FOUND	   ? "Not Found"
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

/* 0 for a handle that is not from this file. */
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

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	char own[64];

	for (int i = 0; i < process.device_count; i++) {
		nvmlDeviceGetUUID(&process.devices[i], own, sizeof(own));
		if (!strcmp(uuid, own))
			return nvmlDeviceGetHandleByIndex_v2((unsigned)i,
							     device);
	}
	return NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
	return nvmlDeviceGetIndex(device, minor);
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
	const struct gp_gpu_properties *p;

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

int nvmlDeviceGetMemoryInfo_v2(void *device, struct nvml_memory_v2 *memory)
{
	struct nvml_memory plain;

	nvmlDeviceGetMemoryInfo(device, &plain);
	memory->total = plain.total;
	memory->reserved = 0;
	memory->free = plain.free;
	memory->used = plain.used;
	return NVML_SUCCESS;
}

/* ---- PCI: the first device is 01:00.0, as in cudaDeviceGetPCIBusId ---- */

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
	unsigned domain, bus, number;

	process_begin(CALL_nvmlDeviceGetHandleByPciBusId_v2);
	process_end(cudaSuccess);
	if (sscanf(bus_id, "%x:%x:%x", &domain, &bus, &number) != 3 || !bus)
		return NVML_ERROR_INVALID;
	return nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}

/* Version 2 of the struct ends before the longer bus id. */
int nvmlDeviceGetPciInfo_v2(void *device, struct nvml_pci *pci)
{
	unsigned bus = ((unsigned)ordinal(device) + 1) & 0xff;

	snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy),
		 "0000:%02X:00.0", bus);
	pci->domain = pci->device = 0;
	pci->bus = bus;
	pci->pci_device_id = pci->pci_subsystem_id = 0;
	return NVML_SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci)
{
	nvmlDeviceGetPciInfo_v2(device, pci);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0",
		 pci->bus);
	return NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
					 void *infos)
{
	process_begin(CALL_nvmlDeviceGetComputeRunningProcesses);
	*count = 0;
	process_end(cudaSuccess);
	return NVML_SUCCESS;
}

/* The answer of cudaDeviceCanAccessPeer; "not supported" for NVLink, which is
 * not simulated. */
int nvmlDeviceGetP2PStatus(void *device, void *other, int what, int *status)
{
	int reaches = 0;

	if (what != NVML_P2P_CAPS_INDEX_NVLINK)
		cudaDeviceCanAccessPeer(&reaches, ordinal(device),
					ordinal(other));
	*status = reaches ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *is_active)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *info)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

/* Devices of compute capability 9.0 and later must answer; this one is in no
 * fabric. All versions of the struct begin with these members. */
int nvmlDeviceGetGpuFabricInfoV(void *device, void *info)
{
	struct {
		unsigned version;
		unsigned char cluster[16];
		int status;
		unsigned clique;
		unsigned char state; /* 0: NOT_SUPPORTED */
	} *fabric = info;

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

/* The first drivers of CUDA 12.4 and 13.0. */
#define DRIVER (CUDART_VERSION < 13000 ? "550.54.14" : "580.65.06")

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	snprintf(version, length, "%s", DRIVER);
	return NVML_SUCCESS;
}

int nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
	snprintf(version, length, "%d.%s", CUDART_VERSION / 1000, DRIVER);
	return NVML_SUCCESS;
}

/* ---- other versions with the same answer ---- */

#define SAME(of) __attribute__((alias(#of)))

int nvmlInit(void) SAME(nvmlInit_v2);
int nvmlDeviceGetCount(unsigned *count) SAME(nvmlDeviceGetCount_v2);
int nvmlDeviceGetHandleByIndex(unsigned index, void **device)
	SAME(nvmlDeviceGetHandleByIndex_v2);
int nvmlDeviceGetHandleByPciBusId(const char *bus_id, void **device)
	SAME(nvmlDeviceGetHandleByPciBusId_v2);
int nvmlDeviceGetPciInfo(void *device, struct nvml_pci *pci)
	SAME(nvmlDeviceGetPciInfo_v2);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count,
					    void *infos)
	SAME(nvmlDeviceGetComputeRunningProcesses);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
					    void *infos)
	SAME(nvmlDeviceGetComputeRunningProcesses);
int nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count,
					     void *infos)
	SAME(nvmlDeviceGetComputeRunningProcesses);
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count,
					     void *infos)
	SAME(nvmlDeviceGetComputeRunningProcesses);
int nvmlSystemGetCudaDriverVersion(int *version)
	SAME(nvmlSystemGetCudaDriverVersion_v2);

/* ---- monitoring ---- */

/*
 * What programs log of a device: the values of a busy one. Memory does not
 * depend on them. None is 0, as programs divide by them.
 */

int nvmlDeviceGetUtilizationRates(void *device, struct nvml_utilization *rates)
{
	*rates = (struct nvml_utilization){ .gpu = 100, .memory = 50 };
	return NVML_SUCCESS;
}

int nvmlDeviceGetEncoderUtilization(void *device, unsigned *percent,
				    unsigned *over_us)
{
	*percent = 1;
	*over_us = 1000000;
	return NVML_SUCCESS;
}

int nvmlDeviceGetDecoderUtilization(void *device, unsigned *percent,
				    unsigned *over_us)
{
	return nvmlDeviceGetEncoderUtilization(device, percent, over_us);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = 50;
	return NVML_SUCCESS;
}

#define WATT 1000u

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	*milliwatts = 300 * WATT;
	return NVML_SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	*milliwatts = 400 * WATT;
	return NVML_SUCCESS;
}

int nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts)
{
	return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
}

/* The value grows, as programs log the difference of two readings. */
int nvmlDeviceGetTotalEnergyConsumption(void *device,
					unsigned long long *millijoules)
{
	static unsigned long long used;

	process_lock();
	*millijoules = used += WATT;
	process_unlock();
	return NVML_SUCCESS;
}

/* Clock domains: graphics, SM, memory, video. */

#define CLOCK_MEMORY 2

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	const struct gp_gpu_properties *p;
	unsigned index;

	nvmlDeviceGetIndex(device, &index);
	process_lock();
	p = properties_of((int)index);
	*mhz = (unsigned)(clock == CLOCK_MEMORY ? p->memory_clock_khz
						: p->clock_khz) /
	       1000;
	process_unlock();
	return NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
	return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}

int nvmlDeviceGetPerformanceState(void *device, int *state)
{
	*state = 0; /* P0: the fastest */
	return NVML_SUCCESS;
}

int nvmlDeviceGetPcieThroughput(void *device, int counter,
				unsigned *kb_a_second)
{
	*kb_a_second = 1000;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryBusWidth(void *device, unsigned *bits)
{
	unsigned index;

	nvmlDeviceGetIndex(device, &index);
	process_lock();
	*bits = (unsigned)properties_of((int)index)->bus_width_bits;
	process_unlock();
	return NVML_SUCCESS;
}

/* No fan, as on server boards; no switchable ECC; no MIG instances. */
int nvmlDeviceGetFanSpeed(void *device, unsigned *percent)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetEccMode(void *device, int *now, int *pending)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
	return NVML_ERROR_NOT_SUPPORTED;
}
