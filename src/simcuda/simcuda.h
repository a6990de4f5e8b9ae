/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime without a device: how the program that runs on it steers it
 * and asks what was called.
 *
 * Memory is that of gpupool/device.h's simulated device: addresses are numbers
 * that nothing stands behind.  See src/simcuda/README.md for what each CUDA
 * call does. Every function may be called from any thread.
 */
#ifndef SIMCUDA_SIMCUDA_H
#define SIMCUDA_SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIMCUDA_MOST_DEVICES 16

/* When a recorded event is complete. */
enum simcuda_events {
	SIMCUDA_EVENTS_INSTANT, /* as soon as it is recorded */
	SIMCUDA_EVENTS_MANUAL,	/* when simcuda_stream_done says so */
	SIMCUDA_EVENTS_LAG,	/* after so much further work */
};

struct gp_device;

/* Forgets everything and reads the environment again (README.md). */
void simcuda_reset(void);

/* Before the devices are used: how many (1), and their memory (80 GiB;
 * UINT64_MAX: no end). */
void simcuda_set_devices(int count);
void simcuda_set_capacity(int device, uint64_t bytes);
/* Serves this device and all reservations from here on; borrowed. */
void simcuda_use_device(int device, struct gp_device *memory);

/* Bytes that other processes use. */
void simcuda_set_other(int device, uint64_t bytes);

/* lag counts recorded events, launches and copies. */
void simcuda_set_events(enum simcuda_events when, uint64_t lag);
/* All work issued so far on the stream is done. */
void simcuda_stream_done(uint64_t stream);
void simcuda_all_done(void);
/* How many events were recorded on the stream, and that all work up to the
 * number-th of them is done. */
uint64_t simcuda_stream_issued(uint64_t stream);
void simcuda_stream_done_to(uint64_t stream, uint64_t number);
/* A kernel was launched on the stream: a node, if it is being captured. */
void simcuda_launch(uint64_t stream);

/* What a device says it is. */
struct simcuda_properties {
	char name[256];
	int major, minor; /* compute capability */
	int multiprocessors;
	int l2_bytes, bus_width_bits;
	int shared_per_block, shared_per_block_optin, shared_per_sm; /* bytes */
	int threads_per_sm; /* 0: 2048 */
	int blocks_per_sm;  /* 0: 32 */
	int clock_khz, memory_clock_khz;
	int compiled_for; /* 86: what kernels were compiled for; 0: this */
};
void simcuda_set_properties(int device,
			    const struct simcuda_properties *properties);

/* How often a call was made; 0 also for a name that is not known. */
uint64_t simcuda_calls(const char *name);

/* Driver functions that were asked for by name but are not here: the index-th
 * name, or NULL; *calls is how often it was then called. */
const char *simcuda_unknown(size_t index, uint64_t *calls);

#ifdef __cplusplus
}
#endif

#endif
