/* SPDX-License-Identifier: MIT */
/* What devices and processes can access of each other. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "simcuda/device.h"
#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/stream.h"

/* ---- peer access ---- */

/* Devices of one machine can access each other's memory, except where the
 * driver does not support it. */

/* NVIDIA's driver offers no peer access between GeForce cards since Ada, nor on
 * an RTX 3090 without NVLink. */
static bool has_peers(int device)
{
	return !strstr(properties_of(device)->name, "GeForce");
}

static bool can_access(int device, int peer)
{
	return device != peer && has_peers(device) && has_peers(peer);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	process_begin(CALL_cudaDeviceCanAccessPeer);
	if (!process_has_device(device) || !process_has_device(peer))
		return process_end(cudaErrorInvalidDevice);
	*can = can_access(device, peer);
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	int device = process_current_device();
	uint32_t *peers = &process.devices[device].peers;

	(void)flags;
	process_begin(CALL_cudaDeviceEnablePeerAccess);
	if (!process_has_device(peer) || !can_access(device, peer))
		return process_end(cudaErrorInvalidDevice);
	if (*peers >> peer & 1)
		return process_end(cudaErrorPeerAccessAlreadyEnabled);
	*peers |= UINT32_C(1) << peer;
	return process_end(cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	uint32_t *peers = &process.devices[process_current_device()].peers;

	process_begin(CALL_cudaDeviceDisablePeerAccess);
	if (!process_has_device(peer) || !(*peers >> peer & 1))
		return process_end(cudaErrorPeerAccessNotEnabled);
	*peers &= ~(UINT32_C(1) << peer);
	return process_end(cudaSuccess);
}

/* ---- other processes ---- */

/*
 * Memory and events of other processes. A handle names an allocation of a
 * process. A process that opens it gets a range of addresses of the same size,
 * separate from its own memory. The range takes no memory of the device,
 * because the other process has taken it already. The bytes are not shared, so
 * nothing there counts as known.
 */

/* Above all addresses of the simulated device. */
#define IPC_BASE UINT64_C(0x7c0000000000)

enum kind { MEMORY = 0x4d435049, EVENT = 0x45435049 };

struct handle {
	uint32_t kind;
	int32_t process, device;
	uint32_t unused;
	uint64_t base, size;
};

struct opened {
	struct handle handle;
	uint64_t addr;
	uint32_t uses; /* 0: closed */
};

static struct {
	struct opened *items;
	size_t count, room;
	uint64_t end; /* offset from the base of the end of all returned
		       * addresses */
} opened;

/* The calling thread exports a single block: other processes get only its
 * addresses. */
static _Thread_local bool is_of_block;

bool ipc_is_of_block(void)
{
	return is_of_block;
}

void ipc_begin_block(void)
{
	is_of_block = true;
}

void ipc_end_block(uint64_t addr, uint64_t size)
{
	is_of_block = false;
	kept_share_block(addr, size);
}

void ipc_forget(void)
{
	opened.count = 0;
	opened.end = 0;
}

static struct opened *find(uint64_t addr)
{
	for (size_t i = 0; i < opened.count; i++)
		if (opened.items[i].uses && addr >= opened.items[i].addr &&
		    addr < opened.items[i].addr + opened.items[i].handle.size)
			return &opened.items[i];
	return NULL;
}

bool ipc_has(uint64_t addr, int *device)
{
	const struct opened *o = addr >= IPC_BASE ? find(addr) : NULL;

	if (o)
		*device = o->handle.device;
	return o;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *to, void *pointer)
{
	struct handle handle = { .kind = MEMORY, .process = getpid() };

	process_begin(CALL_cudaIpcGetMemHandle);
	if (!memory_find((uintptr_t)pointer, &handle.device, &handle.base,
			 &handle.size))
		return process_end(cudaErrorInvalidValue);
	if (!ipc_is_of_block())
		kept_share(handle.base, handle.size);
	memset(to, 0, sizeof(*to));
	memcpy(to, &handle, sizeof(handle));
	return process_end(cudaSuccess);
}

/* A handle is mapped once, however often it is opened. */
static struct opened *find_handle(const struct handle *handle)
{
	for (size_t i = 0; i < opened.count; i++)
		if (opened.items[i].uses &&
		    !memcmp(&opened.items[i].handle, handle, sizeof(*handle)))
			return &opened.items[i];
	return NULL;
}

static struct opened *map(const struct handle *handle)
{
	struct opened *o;

	GP_GROW(opened.items, opened.count + 1, opened.room);
	o = &opened.items[opened.count++];
	*o = (struct opened){ *handle, IPC_BASE + opened.end, 0 };
	opened.end += process_grains(handle->size) * GP_DEVICE_GRAIN;
	return o;
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t from,
				 unsigned flags)
{
	struct handle handle;
	struct opened *o;

	(void)flags;
	process_begin(CALL_cudaIpcOpenMemHandle);
	memcpy(&handle, &from, sizeof(handle));
	if (handle.kind != MEMORY || !process_has_device(handle.device) ||
	    !handle.size || handle.size > IPC_BASE)
		return process_end(cudaErrorInvalidResourceHandle);
	/* The process that made the handle cannot open it. */
	if (handle.process == getpid())
		return process_end(cudaErrorDeviceUninitialized);
	o = find_handle(&handle);
	if (!o)
		o = map(&handle);
	kept_share(o->addr, o->handle.size);
	o->uses++;
	*pointer = (void *)(uintptr_t)o->addr;
	return process_end(cudaSuccess);
}

cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
	struct opened *o;

	process_begin(CALL_cudaIpcCloseMemHandle);
	o = find((uintptr_t)pointer);
	if (!o)
		return process_end(cudaErrorInvalidValue);
	if (!--o->uses) {
		kept_forget(o->addr, o->handle.size);
		kept_unshare(o->addr, o->handle.size);
	}
	return process_end(cudaSuccess);
}

/* Another process's events are complete. */
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *to, cudaEvent_t event)
{
	const struct handle handle = { .kind = EVENT, .process = getpid() };

	process_begin(CALL_cudaIpcGetEventHandle);
	if (!event)
		return process_end(cudaErrorInvalidResourceHandle);
	memset(to, 0, sizeof(*to));
	memcpy(to, &handle, sizeof(handle));
	return process_end(cudaSuccess);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event,
				   cudaIpcEventHandle_t from)
{
	struct handle handle;

	process_begin(CALL_cudaIpcOpenEventHandle);
	memcpy(&handle, &from, sizeof(handle));
	if (handle.kind != EVENT)
		return process_end(cudaErrorInvalidResourceHandle);
	*event = event_create();
	return process_end(cudaSuccess);
}
