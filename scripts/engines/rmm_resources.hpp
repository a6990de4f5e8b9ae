// SPDX-License-Identifier: MIT
//
// RMM's memory resources, out of its own headers, over RMM's cuda_memory_resource:
// the decisions are RMM's, and the runtime that they ask is the one without a
// device (src/simcuda).  What librmm.so itself asks goes to a runtime inside of it,
// so the few functions of that kind are here, and ask the same one.
#ifndef RMM_RESOURCES_HPP
#define RMM_RESOURCES_HPP

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include <cuda_runtime_api.h>
#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/binning_memory_resource.hpp>
#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

namespace rmm {

std::pair<std::size_t, std::size_t> available_device_memory()
{
	std::size_t free_bytes = 0, total = 0;

	cudaMemGetInfo(&free_bytes, &total);
	return { free_bytes, total };
}

int get_num_cuda_devices()
{
	return 1;
}

cuda_device_id get_current_cuda_device()
{
	return cuda_device_id{ 0 };
}

void cuda_stream_view::synchronize_no_throw() const noexcept
{
	cudaStreamSynchronize(value());
}

} // namespace rmm

enum class Kind { pool, grow, arena, binning, async };

constexpr const char *kind_names[] = { "pool", "grow", "arena", "binning",
				       "async" };

// A resource of one kind, and what it is made of.  The sizes are those of the
// manual (gpupool-replay(1)).
struct Resource {
	using Device = rmm::mr::cuda_memory_resource;
	using Pool = rmm::mr::pool_memory_resource<Device>;

	explicit Resource(Kind kind)
	{
		// RMM tells each refusal there, and on standard error otherwise.
		setenv("RMM_DEBUG_LOG_FILE", "/dev/null", 0);
		const auto half = rmm::available_device_memory().second / 2 /
				  256 * 256;
		const auto begin = std::size_t{ 2 } << 20;

		if (kind == Kind::arena)
			above = std::make_unique<
				rmm::mr::arena_memory_resource<Device>>(&device,
									half);
		else if (kind == Kind::async)
			above = std::make_unique<
				rmm::mr::cuda_async_memory_resource>();
		else
			pool = std::make_unique<Pool>(
				&device, kind == Kind::pool ? half : begin);
		if (kind == Kind::binning)
			above = std::make_unique<
				rmm::mr::binning_memory_resource<Pool>>(
				pool.get(), 18, 22);
		top = above ? above.get() : pool.get();
	}

	Device device;
	std::unique_ptr<Pool> pool;
	std::unique_ptr<rmm::mr::device_memory_resource> above;
	rmm::mr::device_memory_resource *top = nullptr;
};

inline rmm::cuda_stream_view stream_of(std::uint64_t stream)
{
	return rmm::cuda_stream_view(reinterpret_cast<cudaStream_t>(stream));
}

#endif
