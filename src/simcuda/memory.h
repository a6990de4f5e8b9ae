/* SPDX-License-Identifier: MIT */
/* Memory that cudaMalloc and the pools hand out, and host memory; called under
 * the lock. */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include "simcuda/process.h"

/* false: out of memory. */
bool memory_take(int device, uint64_t size, uint64_t *addr);
/* false: not an address that memory_take gave.  *size is in whole grains. */
bool memory_give(uint64_t addr, int *device, uint64_t *size);

/* The allocation that an address lies in. */
bool memory_find(uint64_t addr, int *device, uint64_t *base, uint64_t *size);

/* An address that was handed out for a device, or reserved. */
bool memory_is_device(uint64_t addr);
/* Of such an address: which. */
int memory_device_of(uint64_t addr);

/* Whose memory is mapped at an address; false: none is. */
bool virtual_device(uint64_t addr, int *device);

/* Between any two addresses, of devices or not. */
void memory_move(uint64_t to, uint64_t from, size_t size);

/* Host memory that was allocated or registered here. */
bool host_has(uint64_t addr);
cudaError_t host_free(void *pointer);
void host_forget(void);

#endif
