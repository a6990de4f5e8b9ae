/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime without a device: the interface for the controlling program,
 * to configure it and to ask which calls were made.
 *
 * Memory is that of the simulated device of gpupool/device.h: addresses are
 * numbers without memory behind them. src/simcuda/README.md describes what each
 * CUDA call does. Every function may be called from any thread.
 */
#ifndef SIMCUDA_SIMCUDA_H
#define SIMCUDA_SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

#include "device/properties.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIMCUDA_MOST_DEVICES 16

/* When a recorded event is complete. */
enum simcuda_events {
	SIMCUDA_EVENTS_INSTANT, /* as soon as it is recorded */
	SIMCUDA_EVENTS_MANUAL,	/* when simcuda_stream_done says so */
	SIMCUDA_EVENTS_LAG,	/* after an amount of further work */
};

struct gp_device;

/* Resets all state and reads the environment again (README.md). */
void simcuda_reset(void);

/* To be set before the devices are used: how many there are (default 1), and
 * their memory (default 80 GiB; UINT64_MAX: unlimited). */
void simcuda_set_devices(int count);
void simcuda_set_capacity(int device, uint64_t bytes);
/* From now on `memory` serves this device and all reservations. Borrowed. */
void simcuda_use_device(int device, struct gp_device *memory);

/* Bytes in use by other processes. */
void simcuda_set_other(int device, uint64_t bytes);

/* lag counts recorded events, launches and copies. */
void simcuda_set_events(enum simcuda_events when, uint64_t lag);
/* Completes all work issued on the stream so far. */
void simcuda_stream_done(uint64_t stream);
void simcuda_all_done(void);
/* The number of events recorded on the stream; and completing all its work up
 * to the event of this number. */
uint64_t simcuda_stream_issued(uint64_t stream);
void simcuda_stream_done_to(uint64_t stream, uint64_t number);
/* A kernel was launched on the stream: a graph node if it is being captured. */
void simcuda_launch(uint64_t stream);

void simcuda_set_properties(int device,
			    const struct gp_gpu_properties *properties);

/* How often a call was made; 0 for an unknown name. */
uint64_t simcuda_calls(const char *name);

/* Driver functions that were requested by name but are not implemented: the
 * index-th name, or NULL. *calls is how often it was called. */
const char *simcuda_unknown(size_t index, uint64_t *calls);

#ifdef __cplusplus
}
#endif

#endif
