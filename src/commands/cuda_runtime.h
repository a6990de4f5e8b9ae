/* SPDX-License-Identifier: MIT */
/* The CUDA runtime that a command runs on. */
#ifndef COMMANDS_CUDA_RUNTIME_H
#define COMMANDS_CUDA_RUNTIME_H

#include "commands/options.h"
#include "device/cuda.h"

/* --cudart, else what GPUPOOL_CUDART names, else what the loader finds, else
 * what python3's PyTorch has. */
enum gp_status gp_cuda_runtime_open(const struct gp_options *options,
				    struct gp_cuda **cuda,
				    struct gp_diag *diag);

#endif
