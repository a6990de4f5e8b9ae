/* SPDX-License-Identifier: MIT */
/*
 * A CUDA runtime, loaded at run time, and the first device that it reports.
 *
 * Building needs no part of CUDA's toolkit. The library is NVIDIA's libcudart
 * with the driver's libcuda.so.1, or one that has the same functions but no
 * device (src/simcuda).
 */
#ifndef DEVICE_CUDA_H
#define DEVICE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/status.h"

struct gp_cuda;

struct gp_cuda_config {
	/* The library; NULL: libcudart.so.13, .12 or .11.0, as found by the
	 * system's loader. */
	const char *path;
	/* Returns the address of a function, instead of loading a library;
	 * NULL: there is no such function. */
	void *(*find)(const char *name);
	/* A monotonic clock, in seconds. */
	double (*now)(void);
};

/* What the device, the driver and the runtime report about themselves. */
struct gp_cuda_about {
	char gpu[256];	    /* name */
	char driver[80];    /* version, such as "550.54.15"; "": unknown */
	char library[4096]; /* as given or found */
	int capability[2];  /* 9, 0 */
	/* 12090 is 12.9; the version that the driver supports */
	int runtime, supports;
	uint64_t free_bytes, total_bytes;
	bool is_stand_in; /* no device: times are meaningless */
};

/* Whether the system's loader finds a runtime. */
bool gp_cuda_is_found(void);

/* GP_SYSTEM: there is no library, driver or device. *cuda may keep a context on
 * the device until it is closed. */
enum gp_status gp_cuda_open(const struct gp_cuda_config *config,
			    struct gp_cuda **cuda, struct gp_diag *diag);
/* Accepts NULL. */
void gp_cuda_close(struct gp_cuda *cuda);

const struct gp_cuda_about *gp_cuda_about(const struct gp_cuda *cuda);

/*
 * A device of gpupool/device.h with real memory: each call is made and timed.
 *
 * Addresses are those of a simulated device with that ordinal and capacity, so
 * that an engine whose decisions depend on addresses makes the same decisions
 * as there; each is mapped to an address of CUDA's. Memory that exists when a
 * replay begins is allocated by this process. A request that the simulated
 * device has no room for is refused without a call. Destroying the device
 * releases all memory.
 */
struct gp_device *gp_cuda_device_create(struct gp_cuda *cuda, uint32_t ordinal,
					uint64_t capacity);

#endif
