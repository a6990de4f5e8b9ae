/* SPDX-License-Identifier: MIT */
// What the parts of the shim share: PyTorch's headers, one release's, and how
// calls of PyTorch end.
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
// While it is, no action is told.
extern bool shim_is_quiet;

void shim_keep_text(const char *text);

// Runs it and answers; what PyTorch throws ends here.
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

// From here on every request goes to that pool, and no more.
void shim_route(const uint64_t pool[2]);
void shim_unroute(const uint64_t pool[2]);

#endif
