/* SPDX-License-Identifier: MIT */
// What the parts of the shim share: the headers of one PyTorch release, and the
// handling of its exceptions.
#ifndef ALLOCATOR_TORCH_SHIM_PARTS_HH
#define ALLOCATOR_TORCH_SHIM_PARTS_HH

#include "allocator/torch/shim.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#if __has_include(<c10/cuda/CUDAAllocatorConfig.h>)
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif

#include <exception>

namespace allocator = c10::cuda::CUDACachingAllocator;

extern c10::DeviceIndex shim_device;
// While this is set, actions are not reported.
extern bool shim_is_quiet;

void shim_keep_text(const char *text);

// Calls a function and turns PyTorch's exceptions into an answer.
template <typename Function> int guarded(Function function)
{
	*shim_text = 0;
	try {
		function();
		return TORCH_SERVED;
	} catch (const c10::OutOfMemoryError &error) {
		shim_keep_text(error.what_without_backtrace());
		return TORCH_OUT_OF_MEMORY;
	} catch (const c10::Error &error) {
		shim_keep_text(error.what_without_backtrace());
	} catch (const std::exception &error) {
		shim_keep_text(error.what());
	}
	return TORCH_ERROR;
}

inline c10::cuda::MempoolId_t id_of(const uint64_t pool[2])
{
	return { pool[0], pool[1] };
}

// Begins and ends the routing of every request to that pool.
void shim_route(const uint64_t pool[2]);
void shim_unroute(const uint64_t pool[2]);
// While a request that names its pool is served.
void shim_route_request(const uint64_t pool[2]);
void shim_unroute_request(const uint64_t pool[2]);

#endif
