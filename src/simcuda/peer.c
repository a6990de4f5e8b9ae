/* SPDX-License-Identifier: MIT */
/*
 * Peer access: devices of one machine reach each other's memory, but for those
 * whose driver keeps it from them.
 */
#include <string.h>

#include "simcuda/properties.h"

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
