/* SPDX-License-Identifier: MIT */
/*
 * What programs log of a device: those of one that is busy all the time.  No
 * memory hangs on them.  None is 0, as rates are made by dividing by them.
 */
#include "simcuda/api/nvml.h"

#include "simcuda/device.h"
#include "simcuda/process.h"

int nvmlDeviceGetUtilizationRates(void *device, struct nvml_utilization *rates)
{
	(void)device;
	*rates = (struct nvml_utilization){ .gpu = 100, .memory = 50 };
	return NVML_SUCCESS;
}

int nvmlDeviceGetEncoderUtilization(void *device, unsigned *percent,
				    unsigned *over_us)
{
	(void)device;
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
	(void)device;
	(void)sensor;
	*celsius = 50;
	return NVML_SUCCESS;
}

#define WATT 1000u

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 300 * WATT;
	return NVML_SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 400 * WATT;
	return NVML_SUCCESS;
}

int nvmlDeviceGetPowerManagementLimit(void *device, unsigned *milliwatts)
{
	return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
}

/* It grows, as what is logged is a difference of two. */
int nvmlDeviceGetTotalEnergyConsumption(void *device,
					unsigned long long *millijoules)
{
	static unsigned long long used;

	(void)device;
	process_lock();
	*millijoules = used += WATT;
	process_unlock();
	return NVML_SUCCESS;
}

/* ---- clocks: graphics, SM, memory, video ---- */

#define CLOCK_MEMORY 2

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	const struct simcuda_properties *p;
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
	(void)device;
	*state = 0; /* P0: the fastest */
	return NVML_SUCCESS;
}

/* ---- the board ---- */

int nvmlDeviceGetPcieThroughput(void *device, int counter,
				unsigned *kb_a_second)
{
	(void)device;
	(void)counter;
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

/* No fan, as on a board for a server; no error correction to switch, and no
 * instances. */
int nvmlDeviceGetFanSpeed(void *device, unsigned *percent)
{
	(void)device;
	(void)percent;
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetEccMode(void *device, int *now, int *pending)
{
	(void)device;
	(void)now;
	(void)pending;
	return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
	(void)device;
	(void)now;
	(void)pending;
	return NVML_ERROR_NOT_SUPPORTED;
}
