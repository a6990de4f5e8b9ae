/* Memory that cudaMalloc and the pools hand out; called under the lock. */
#ifndef SIMCUDA_MEMORY_H
#define SIMCUDA_MEMORY_H

#include "simcuda/process.h"

/* false: out of memory. */
bool memory_take(int device, uint64_t size, uint64_t *addr);
/* false: not an address that memory_take gave.  *size is in whole grains. */
bool memory_give(uint64_t addr, int *device, uint64_t *size);

/* An address that was handed out for a device, or reserved. */
bool memory_is_device(uint64_t addr);

#endif
