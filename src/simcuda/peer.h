/* SPDX-License-Identifier: MIT */
/* Memory of other processes that this one has opened; called under the lock. */
#ifndef SIMCUDA_PEER_H
#define SIMCUDA_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the address is of such memory, and of which device it is. */
bool ipc_has(uint64_t addr, int *device);
void ipc_forget(void);

#endif
