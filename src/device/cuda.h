/* SPDX-License-Identifier: MIT */
/*
 * A CUDA runtime, loaded at run time, and the first device that it shows.
 *
 * Nothing of CUDA's toolkit is needed to build.  The library is NVIDIA's
 * libcudart with the driver's libcuda.so.1, or one that has the same calls and
 * no device behind them (src/simcuda).
 */
#ifndef DEVICE_CUDA_H
#define DEVICE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/status.h"

struct gp_cuda;

struct gp_cuda_config {
	/* The library; NULL: libcudart.so.13, .12 or .11.0, as the system's
	 * loader finds them. */
	const char *path;
	/* Where a function is, in place of a library; NULL: there is none of
	 * that name. */
	void *(*find)(const char *name);
	/* Seconds, from a clock that never goes back. */
	double (*now)(void);
};

/* What the device, the driver and the runtime say of themselves. */
struct gp_cuda_about {
	char gpu[256];	       /* name */
	char driver[80];       /* version, as "550.54.15"; "": not told */
	char library[4096];    /* as given or found */
	int capability[2];     /* 9, 0 */
	int runtime, supports; /* 12090 is 12.9; what the driver supports */
	uint64_t free_bytes, total_bytes;
	bool is_stand_in; /* there is no device: times mean nothing */
};

/* Whether the system's loader finds a runtime. */
bool gp_cuda_is_found(void);

/* GP_SYSTEM: no library, no driver, no device.  *cuda may have a context on
 * the device until it is closed. */
enum gp_status gp_cuda_open(const struct gp_cuda_config *config,
			    struct gp_cuda **cuda, struct gp_diag *diag);
/* Also NULL. */
void gp_cuda_close(struct gp_cuda *cuda);

const struct gp_cuda_about *gp_cuda_about(const struct gp_cuda *cuda);

/*
 * The device of gpupool/device.h with real memory: each call is made and timed.
 *
 * Addresses are those of a simulated device of that ordinal and capacity, so
 * that an engine that looks at them decides as it does there; behind each one
 * stands an address of CUDA's.  Memory that is there when a replay begins is
 * allocated anew.  What the simulated device has no room for is refused without
 * asking CUDA.  The destroyed device has given all memory back.
 */
struct gp_device *gp_cuda_device_create(struct gp_cuda *cuda, uint32_t ordinal,
					uint64_t capacity);

#endif
