/* SPDX-License-Identifier: MIT */
/* Events, for the other files; called under the lock. */
#ifndef SIMCUDA_EVENT_H
#define SIMCUDA_EVENT_H

#include "simcuda/api/cuda_runtime_api.h"

/* Never recorded, and so complete. */
cudaEvent_t event_create(void);

#endif
