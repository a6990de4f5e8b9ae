/* SPDX-License-Identifier: MIT */
/* The process's devices, the lock, and the control interface; settings from the
 * environment. */
#include "simcuda/process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/stream.h"

/* The default of gpupool's simulated device. */
#define DEFAULT_CAPACITY (UINT64_C(80) << 30)

struct process process;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready;
static _Thread_local int current;
static _Thread_local cudaError_t last_error;

/* ---- the environment: inside another program there is no command line ---- */

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* "instant", "manual" or "lag:N" */
static void apply_events(const char *text)
{
	static const char lag[] = "lag:";

	if (!strncmp(text, lag, sizeof(lag) - 1))
		streams_set_events(SIMCUDA_EVENTS_LAG,
				   strtoull(text + sizeof(lag) - 1, NULL, 0));
	else if (!strcmp(text, "manual"))
		streams_set_events(SIMCUDA_EVENTS_MANUAL, 0);
	else
		streams_set_events(SIMCUDA_EVENTS_INSTANT, 0);
}

/* A device as gpupool record passes it on: the members of struct
 * gp_gpu_properties in their order, then its name. */
static void apply_gpu(const char *text)
{
	struct gp_gpu_properties p = { .name = "" };
	int name = 0;

	if (sscanf(text, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%n", &p.major,
		   &p.minor, &p.multiprocessors, &p.l2_bytes, &p.bus_width_bits,
		   &p.shared_per_block, &p.shared_per_block_optin,
		   &p.shared_per_sm, &p.threads_per_sm, &p.blocks_per_sm,
		   &p.clock_khz, &p.memory_clock_khz, &p.compiled_for,
		   &name) != 13)
		return;
	snprintf(p.name, sizeof(p.name), "%s", text + name);
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].properties = p;
}

static void apply_environment(void)
{
	uint64_t count = number("SIMCUDA_DEVICES", 1);
	const char *events = getenv("SIMCUDA_EVENTS");
	const char *gpu = getenv("SIMCUDA_GPU");

	if (count > 0 && count <= SIMCUDA_MOST_DEVICES)
		process.device_count = (int)count;
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].capacity =
			number("SIMCUDA_CAPACITY", process.devices[i].capacity);
	process.context_bytes = number("SIMCUDA_CONTEXT", 0);
	process.is_boundless = number("SIMCUDA_BOUNDLESS", 0) != 0;
	process.is_downward = number("SIMCUDA_DOWNWARD", 0) != 0;
	if (gpu)
		apply_gpu(gpu);
	apply_events(events ? events : "instant");
}

/* ---- the lock ---- */

static void start(void)
{
	is_ready = true;
	process.device_count = 1;
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].capacity = DEFAULT_CAPACITY;
	apply_environment();
}

void process_lock(void)
{
	pthread_mutex_lock(&lock);
	if (!is_ready)
		start();
}

void process_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void process_begin(enum simcuda_call call)
{
	process_lock();
	process.calls[call]++;
}

cudaError_t process_end(cudaError_t error)
{
	if (error != cudaSuccess)
		last_error = error;
	process_unlock();
	return error;
}

CUresult process_end_driver(CUresult error)
{
	process_unlock();
	return error;
}

/* ---- hooks for the rest of the library ---- */

struct process_hooks process_hooks;

void process_notify_count(void)
{
	if (process_hooks.count)
		process_hooks.count();
}

cudaError_t process_end_waiting(void)
{
	cudaError_t error = process_end(process.failed);

	if (process_hooks.pause)
		process_hooks.pause();
	return error;
}

void process_fail(cudaError_t error)
{
	process_lock();
	if (!process.failed)
		process.failed = error;
	process_unlock();
}

void process_notify_event(const void *event, bool is_done)
{
	if (process_hooks.event)
		process_hooks.event(event, is_done);
}

void process_notify_unfinished(const struct awaited *what)
{
	if (process_hooks.unfinished)
		process_hooks.unfinished(what);
}

void process_notify_memory(int device, uint64_t addr, uint64_t bytes)
{
	if (process_hooks.memory)
		process_hooks.memory(device, addr, bytes);
}

void process_notify_guess(void)
{
	if (process_hooks.guess)
		process_hooks.guess();
}

void process_notify_timed(bool is_query)
{
	if (process_hooks.timed)
		process_hooks.timed(is_query);
}

void process_notify_work(const struct process_reach *reach)
{
	bool is_captured;

	if (!process_hooks.work)
		return;
	process_lock();
	is_captured = streams_are_captured();
	process_unlock();
	process_hooks.work(is_captured, reach);
}

bool process_ask_read(void *to, uint64_t from, size_t size)
{
	return process_hooks.read && process_hooks.read(to, from, size);
}

void process_notify_wait(uint64_t stream, uint64_t by)
{
	if (process_hooks.wait)
		process_hooks.wait(stream, by);
}

void process_before_read(uint64_t addr, uint64_t size)
{
	if (process_hooks.before)
		process_hooks.before(addr, size, false);
}

void process_before_write(uint64_t addr, uint64_t size)
{
	if (process_hooks.before)
		process_hooks.before(addr, size, true);
}

void process_wait_for(const struct awaited *what)
{
	if (process_hooks.await && what->places)
		process_hooks.await(what);
}

static _Thread_local bool ignores_others;

void process_ignore_others(bool ignores)
{
	ignores_others = ignores;
}

bool process_is_awaited(const struct awaited *what)
{
	return process_hooks.is_awaited && what->places && !ignores_others &&
	       process_hooks.is_awaited(what);
}

/* ---- devices ---- */

int process_current_device(void)
{
	return current;
}

void process_set_current_device(int device)
{
	current = device;
}

bool process_has_device(int device)
{
	if (device >= process.device_count && device > process.most_wanted)
		process.most_wanted = device;
	return device >= 0 && device < process.device_count;
}

struct gp_device *process_memory(int device)
{
	struct simcuda_device *d = &process.devices[device];

	if (d->memory)
		return d->memory;
	d->memory = process.is_boundless
			    ? gp_sim_boundless((uint32_t)device, d->capacity)
			    : gp_sim_create((uint32_t)device, d->capacity);
	if (process.is_downward)
		gp_sim_place_downward(d->memory);
	if (process.context_bytes)
		d->memory->ops->set_other(d->memory, process.context_bytes);
	return d->memory;
}

/* ---- errors: per thread, outside the lock ---- */

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
	{ cudaSuccess, "cudaSuccess", "no error" },
	{ cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
	{ cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation",
	  "out of memory" },
	{ cudaErrorInvalidDevice, "cudaErrorInvalidDevice",
	  "invalid device ordinal" },
	{ cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized",
	  "invalid device context" },
	{ cudaErrorPeerAccessAlreadyEnabled,
	  "cudaErrorPeerAccessAlreadyEnabled",
	  "peer access is already enabled" },
	{ cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
	  "peer access has not been enabled" },
	{ cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
	  "invalid resource handle" },
	{ cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
	{ cudaErrorNotSupported, "cudaErrorNotSupported",
	  "operation not supported" },
	{ cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered" },
};

static const char *describe(cudaError_t error, bool name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].error == error)
			return name ? errors[i].name : errors[i].text;
	return name ? "cudaErrorUnknown" : "unknown error";
}

const char *cudaGetErrorString(cudaError_t error)
{
	return describe(error, false);
}

const char *cudaGetErrorName(cudaError_t error)
{
	return describe(error, true);
}

/* The driver's error numbers are the runtime's. */
CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = describe((cudaError_t)error, false);
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = describe((cudaError_t)error, true);
	return CUDA_SUCCESS;
}

/* ---- the control interface ---- */

static void forget_device(struct simcuda_device *device)
{
	if (!device->is_borrowed)
		gp_device_destroy(device->memory);
	gp_map_release(&device->grains);
}

void simcuda_reset(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		forget_device(&process.devices[i]);
	streams_forget();
	memory_forget();
	unknown_forget();
	kept_forget_all();
	ipc_forget();
	process = (struct process){ 0 };
	current = 0;
	last_error = cudaSuccess;
	start();
	pthread_mutex_unlock(&lock);
}

void simcuda_set_devices(int count)
{
	process_lock();
	if (count > 0 && count <= SIMCUDA_MOST_DEVICES)
		process.device_count = count;
	process_unlock();
}

void simcuda_set_capacity(int device, uint64_t bytes)
{
	process_lock();
	if (device >= 0 && device < SIMCUDA_MOST_DEVICES)
		process.devices[device].capacity = bytes;
	process_unlock();
}

void simcuda_use_device(int device, struct gp_device *memory)
{
	process_lock();
	if (device >= 0 && device < SIMCUDA_MOST_DEVICES) {
		process.devices[device].memory = memory;
		process.devices[device].is_borrowed = true;
		process.reserving = device;
	}
	process_unlock();
}

void simcuda_set_other(int device, uint64_t bytes)
{
	process_lock();
	if (process_has_device(device)) {
		struct gp_device *memory = process_memory(device);

		memory->ops->set_other(memory, bytes);
	}
	process_unlock();
}

void simcuda_set_properties(int device,
			    const struct gp_gpu_properties *properties)
{
	process_lock();
	if (device >= 0 && device < SIMCUDA_MOST_DEVICES)
		process.devices[device].properties = *properties;
	process_unlock();
}

static const char *const call_names[] = {
#define SIMCUDA_NAME(name) #name,
	SIMCUDA_CALLS(SIMCUDA_NAME)
#undef SIMCUDA_NAME
};

uint64_t simcuda_calls(const char *name)
{
	uint64_t count = 0;

	process_lock();
	for (size_t i = 0; i < CALLS; i++)
		if (!strcmp(call_names[i], name))
			count = process.calls[i];
	process_unlock();
	return count;
}
