/* SPDX-License-Identifier: MIT */
/* What devices say of themselves; called under the lock. */
#ifndef SIMCUDA_DEVICE_H
#define SIMCUDA_DEVICE_H

#include "simcuda/process.h"

const struct simcuda_properties *properties_of(int device);

/* Of a multiprocessor. */
int properties_threads(const struct simcuda_properties *p);
int properties_blocks(const struct simcuda_properties *p);

/* A struct cudaDeviceProp as CUDA 11, 12 or 13 lays it out. */
void properties_write(void *prop, int cuda, int device);

#endif
