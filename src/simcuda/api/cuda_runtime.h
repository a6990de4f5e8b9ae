/* SPDX-License-Identifier: MIT */
/* In place of <cuda_runtime.h>, which adds C++ to what is declared here. */
#ifndef SIMCUDA_API_CUDA_RUNTIME_H
#define SIMCUDA_API_CUDA_RUNTIME_H

#include "simcuda/api/cuda_runtime_api.h"

#endif
