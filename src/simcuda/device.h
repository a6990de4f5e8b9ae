/* SPDX-License-Identifier: MIT */
/* Device properties; called under the lock. */
#ifndef SIMCUDA_DEVICE_H
#define SIMCUDA_DEVICE_H

#include "simcuda/process.h"

const struct gp_gpu_properties *properties_of(int device);

/* Per multiprocessor. */
int properties_threads(const struct gp_gpu_properties *p);
int properties_blocks(const struct gp_gpu_properties *p);

/* Writes a struct cudaDeviceProp in the layout of CUDA 11, 12 or 13. */
void properties_write(void *prop, int cuda, int device);

#endif
