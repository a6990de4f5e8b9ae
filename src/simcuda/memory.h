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

void memory_forget(void);

/* ---- memory of other processes that this one has opened: peer.c ---- */

/* Whether the address is of such memory, and of which device it is. */
bool ipc_has(uint64_t addr, int *device);
void ipc_forget(void);

#endif
