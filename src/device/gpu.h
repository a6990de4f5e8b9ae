/* SPDX-License-Identifier: MIT */
/*
 * Real devices by name, and what people write for the memory of a device.
 */
#ifndef DEVICE_GPU_H
#define DEVICE_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "simcuda/simcuda.h"
#include "gpupool/status.h"

/* A real device. */
struct gp_gpu {
	const char *name;   /* "h100-80gb" */
	uint64_t capacity;  /* bytes that cudaMemGetInfo calls the total */
	const char *source; /* of the capacity */
	struct simcuda_properties properties;
};

const struct gp_gpu *gp_gpu_table(size_t *count);

/*
 * The device of a name in any usual spelling: "h100", "RTX 3090", "rtx3090",
 * "NVIDIA A100-SXM4-40GB", "a100 40g".  NULL: none, or more than one ("a100"),
 * and diag's what and hint, which names them, say so.
 */
const struct gp_gpu *gp_gpu_find(const char *name, struct gp_diag *diag);

/*
 * The memory of a device: a size (base/bytes.h), the name of a device or
 * "unlimited", which is GP_UNLIMITED.  GP_USAGE with what and hint, for
 * example for "80": nobody means 80 bytes.
 */
enum gp_status gp_capacity_parse(const char *text, uint64_t *bytes,
				 struct gp_diag *diag);

#endif
