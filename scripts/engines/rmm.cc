// SPDX-License-Identifier: MIT
//
// RAPIDS's memory resources as engines of gpupool, out of RMM's own headers: the
// decisions are RMM's.  Its upstream is the device that gpupool lends.  RMM orders
// streams by events and never asks whether one is done, so the runtime's calls
// for these do nothing here; gpupool gives a block back when other streams are
// done with it.
//
//   rmm-pool     pool_memory_resource, begun with half of the device as
//                Python's rmm.reinitialize(pool_allocator=True) does
//   rmm-grow     the same, begun with 2 MiB
//   rmm-arena    arena_memory_resource, with a global arena of half of the device
//   rmm-binning  bins of 256 KiB to 4 MiB over rmm-grow's pool
#include "gpupool/engine.h"

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/binning_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

// ---- the runtime, and what librmm.so asks it ----

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
	static char all;

	*event = reinterpret_cast<cudaEvent_t>(&all);
	return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t)
{
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
	return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
	return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
	return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
	return cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t)
{
	return "an error";
}

const char *cudaGetErrorString(cudaError_t)
{
	return "an error";
}

} // extern "C"

namespace {

const gp_memory *lent; // the device of this process

} // namespace

namespace rmm {

std::pair<std::size_t, std::size_t> available_device_memory()
{
	uint64_t free_bytes = 0, total = 0;

	lent->info(lent->device, &free_bytes, &total);
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

void cuda_stream_view::synchronize_no_throw() const noexcept {}

} // namespace rmm

namespace {

using rmm::mr::device_memory_resource;

class Device final : public device_memory_resource {
public:
	explicit Device(const gp_memory *memory) : memory_(memory) {}

private:
	void *do_allocate(std::size_t bytes, rmm::cuda_stream_view) override
	{
		uint64_t addr = 0;

		if (!bytes || !memory_->malloc(memory_->device, bytes, &addr))
			throw rmm::out_of_memory("the device has no memory");
		return reinterpret_cast<void *>(addr);
	}

	void do_deallocate(void *block, std::size_t,
			   rmm::cuda_stream_view) noexcept override
	{
		memory_->free(memory_->device,
			      reinterpret_cast<uint64_t>(block));
	}

	const gp_memory *memory_;
};

using Pool = rmm::mr::pool_memory_resource<Device>;
using Arena = rmm::mr::arena_memory_resource<Device>;
using Binning = rmm::mr::binning_memory_resource<Pool>;

constexpr std::size_t mib = std::size_t{1} << 20;

struct Heap {
	explicit Heap(const gp_memory *memory) : device(memory)
	{
		uint64_t unused = 0, total = 0;

		memory->info(memory->device, &unused, &total);
		half = total / 2 / 256 * 256;
	}

	Device device;
	std::size_t half = 0;
	std::unique_ptr<Pool> pool;
	std::unique_ptr<device_memory_resource> above;
	device_memory_resource *resource = nullptr;
};

enum class Kind { pool, grow, arena, binning };

void begin(Heap &heap, Kind kind)
{
	if (kind == Kind::arena) {
		heap.above = std::make_unique<Arena>(&heap.device, heap.half);
		heap.resource = heap.above.get();
		return;
	}
	heap.pool = std::make_unique<Pool>(&heap.device,
					   kind == Kind::pool ? heap.half : 2 * mib);
	heap.resource = heap.pool.get();
	if (kind == Kind::binning) {
		heap.above = std::make_unique<Binning>(heap.pool.get(), 18, 22);
		heap.resource = heap.above.get();
	}
}

template <Kind kind> void *create(const gp_memory *memory)
{
	lent = memory;
	try {
		auto heap = std::make_unique<Heap>(memory);

		begin(*heap, kind);
		return heap.release();
	} catch (const std::exception &) {
		return nullptr;
	}
}

void destroy(void *self)
{
	delete static_cast<Heap *>(self);
}

rmm::cuda_stream_view stream_of(uint64_t stream)
{
	return rmm::cuda_stream_view(reinterpret_cast<cudaStream_t>(stream));
}

bool alloc(void *self, const gp_ask *ask, gp_piece *piece)
{
	auto *heap = static_cast<Heap *>(self);
	// As every resource of RMM hands out.
	const uint64_t size = (ask->size + 255) / 256 * 256;

	if (ask->size > UINT64_C(1) << 47)
		return false;
	try {
		void *block = heap->resource->allocate(stream_of(ask->stream),
						       ask->size);

		*piece = { reinterpret_cast<uint64_t>(block), size,
			   ask->stream };
		return true;
	} catch (const std::bad_alloc &) {
		return false;
	}
}

void release(void *self, const gp_piece *piece)
{
	static_cast<Heap *>(self)->resource->deallocate(
		stream_of(piece->handle),
		reinterpret_cast<void *>(piece->addr), piece->size);
}

template <Kind kind> constexpr gp_engine_table table_of(const char *name)
{
	return { GP_ENGINE_VERSION, 1,	     name,    "RMM's own",
		 create<kind>,	    destroy, alloc,   release,
		 nullptr,	    nullptr, nullptr };
}

} // namespace

#define SHOWN extern "C" __attribute__((visibility("default")))

SHOWN const gp_engine_table rmm_pool = table_of<Kind::pool>("rmm-pool");
SHOWN const gp_engine_table rmm_grow = table_of<Kind::grow>("rmm-grow");
SHOWN const gp_engine_table rmm_arena = table_of<Kind::arena>("rmm-arena");
SHOWN const gp_engine_table rmm_binning =
	table_of<Kind::binning>("rmm-binning");
