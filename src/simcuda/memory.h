/* SPDX-License-Identifier: MIT */
/* Memory that cudaMalloc and the pools return, and host memory; called under
 * the lock. */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include "simcuda/process.h"

/* false: out of memory. */
bool memory_take(int device, uint64_t size, uint64_t *addr);
/* false: the address is not from memory_take. *size is in whole grains. */
bool memory_give(uint64_t addr, int *device, uint64_t *size);

/* The allocation that contains an address. */
bool memory_find(uint64_t addr, int *device, uint64_t *base, uint64_t *size);

/* Whether the address was returned for a device, or reserved. */
bool memory_is_device(uint64_t addr);
/* The device of such an address. */
int memory_device_of(uint64_t addr);

void memory_forget(void);

/* ---- memory of other processes, opened by this one: peer.c ---- */

/* Whether the address is in such memory, and the device it is on. */
bool ipc_has(uint64_t addr, int *device);
void ipc_forget(void);
/* Between these two calls of a thread, code that gets a handle of the memory
 * uses only the block at the address that it asks for. */
void ipc_begin_block(void);
void ipc_end_block(uint64_t addr, uint64_t size);
bool ipc_is_of_block(void);

#endif
