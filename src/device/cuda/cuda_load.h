/* SPDX-License-Identifier: MIT */
/* A loaded CUDA runtime, for the files that call it. */
#ifndef DEVICE_CUDA_CUDA_LOAD_H
#define DEVICE_CUDA_CUDA_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "device/cuda.h"
#include "device/cuda/cuda_calls.h"

struct gp_cuda {
	struct cuda_calls calls;
	struct gp_cuda_about about;
	double (*now)(void);
	bool is_too_new;    /* for the driver */
	void *libraries[3]; /* of dlopen: runtime, driver, NVML; or NULL */
};

/* Device memory of the first device, as cuMemCreate wants it described. */
extern const struct cuda_allocation cuda_page;
extern const struct cuda_access cuda_access;

/* GP_SYSTEM, with CUDA's text for an error of that call; bytes: the size that
 * was requested, 0: not applicable. */
enum gp_status cuda_fail(const struct gp_cuda *cuda, const char *call,
			 uint64_t bytes, int error, struct gp_diag *diag);

#endif
