/* SPDX-License-Identifier: MIT */
/* In the place of <cuda_runtime.h>, which adds C++ on top of what is here. */
#ifndef SIMCUDA_API_CUDA_RUNTIME_H
#define SIMCUDA_API_CUDA_RUNTIME_H

#include "simcuda/api/cuda_runtime_api.h"

#endif
