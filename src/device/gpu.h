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
 * What a process holds of a device besides what PyTorch's allocator reserves,
 * as PyTorch's message calls it "non-PyTorch memory": CUDA's context, the code
 * that is loaded, what libraries keep.  NCCL's is not in it.  It hangs on the
 * driver and on what a program calls, so that it is a range.
 */
struct gp_non_pytorch {
	uint64_t low, high; /* bytes */
	uint64_t shown;	    /* by nvidia-smi beside what is reserved */
	const char *source; /* where each figure was told; NULL: of this device
			     * nothing was, and it is that of all others */
};
struct gp_non_pytorch gp_gpu_non_pytorch(const struct gp_gpu *gpu);

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
