/* SPDX-License-Identifier: MIT */
/*
 * Real devices by name, and the parsing of a device's memory size.
 */
#ifndef DEVICE_GPU_H
#define DEVICE_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "device/properties.h"
#include "gpupool/status.h"

/* A real device. */
struct gp_gpu {
	const char *name;   /* "h100-80gb" */
	uint64_t capacity;  /* cudaMemGetInfo's total, in bytes */
	const char *source; /* of the capacity */
	struct gp_gpu_properties properties;
};

const struct gp_gpu *gp_gpu_table(size_t *count);

/*
 * The memory that a process uses on a device beyond what PyTorch's allocator
 * reserves, which PyTorch's message calls "non-PyTorch memory": CUDA's context,
 * loaded code, and what libraries keep. NCCL is not included. It depends on the
 * driver and on the functions that a program uses, so it is a range.
 */
struct gp_non_pytorch {
	uint64_t low, high; /* bytes */
	/* Shown by nvidia-smi in addition to reserved memory. */
	uint64_t shown;
	/* Source of the figures; NULL: there are none for this device, and
	 * those of all others are used. */
	const char *source;
};
struct gp_non_pytorch gp_gpu_non_pytorch(const struct gp_gpu *gpu);

/*
 * Finds a device by its name in any usual spelling: "h100", "RTX 3090",
 * "rtx3090", "NVIDIA A100-SXM4-40GB", "a100 40g". NULL: there is none, or more
 * than one ("a100"); diag's what and hint then say so and list them.
 */
const struct gp_gpu *gp_gpu_find(const char *name, struct gp_diag *diag);

/* The device with the nearest memory, if it is within a hundredth of that;
 * else NULL. */
const struct gp_gpu *gp_gpu_of_capacity(uint64_t bytes);

/*
 * Parses the memory of a device: a size (base/bytes.h), the name of a device,
 * or "unlimited", which is GP_UNLIMITED. GP_USAGE with what and hint, for
 * instance for "80": no device has 80 bytes.
 */
enum gp_status gp_capacity_parse(const char *text, uint64_t *bytes,
				 struct gp_diag *diag);

#endif
