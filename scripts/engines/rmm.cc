// SPDX-License-Identifier: MIT
//
// RMM's resources (rmm_resources.hpp) as engines of gpupool.  The device of the
// runtime without one is here the one that gpupool lends.  RMM orders streams by
// events and never asks whether one is done; gpupool gives a block back when other
// streams are done with it.
//
//   rmm-pool     pool_memory_resource, begun with half of the device as
//                Python's rmm.reinitialize(pool_allocator=True) does
//   rmm-grow     the same, begun with 2 MiB
//   rmm-arena    arena_memory_resource, with a global arena of half of the device
//   rmm-binning  bins of 256 KiB to 4 MiB over rmm-grow's pool
//   rmm-async    cuda_async_memory_resource; what is behind it is the driver's
//                affair, and here a pool that packs: see below
#include "gpupool/engine.h"

#include <iterator>
#include <map>
#include <new>

#include "gpupool/device.h"
#include "rmm_resources.hpp"
#include "simcuda/simcuda.h"

namespace {

// ---- the device that gpupool lends, as the runtime has its devices ----

struct Lent : gp_device {
	const gp_memory *memory;
};

const gp_memory *memory_of(gp_device *device)
{
	return static_cast<Lent *>(device)->memory;
}

bool device_malloc(gp_device *device, uint64_t size, uint64_t *addr)
{
	return memory_of(device)->malloc(memory_of(device)->device, size,
					 addr);
}

void device_free(gp_device *device, uint64_t addr, uint64_t)
{
	memory_of(device)->free(memory_of(device)->device, addr);
}

void device_info(gp_device *device, uint64_t *free_bytes, uint64_t *total)
{
	memory_of(device)->info(memory_of(device)->device, free_bytes, total);
}

// ---- the driver's pool ----

// How the driver places blocks is not known.  Here it is first fit, in units of
// 512 bytes, in one range of addresses, to which memory is mapped page by page and
// stays: RMM's release threshold is all of the device.
struct Packing : Lent {
	uint64_t range = 0, mapped = 0; // bytes
	std::map<uint64_t, uint64_t> blocks; // offset -> bytes
};

constexpr uint64_t unit = 512;

uint64_t first_gap(const Packing &pool, uint64_t size)
{
	uint64_t at = 0;

	for (const auto &[offset, bytes] : pool.blocks) {
		if (offset - at >= size)
			break;
		at = offset + bytes;
	}
	return at;
}

bool pool_malloc(gp_device *device, uint64_t size, uint64_t *addr)
{
	auto *pool = static_cast<Packing *>(device);
	const gp_memory *memory = pool->memory;
	uint64_t unused, total, at, end;

	memory->info(memory->device, &unused, &total);
	if (!pool->range &&
	    !memory->reserve(memory->device, total / GP_ENGINE_PAGE *
						     GP_ENGINE_PAGE,
			     &pool->range))
		return false;
	size = (size + unit - 1) / unit * unit;
	at = first_gap(*pool, size);
	end = (at + size + GP_ENGINE_PAGE - 1) / GP_ENGINE_PAGE *
	      GP_ENGINE_PAGE;
	if (end > total)
		return false;
	if (end > pool->mapped) {
		if (!memory->map(memory->device, pool->range + pool->mapped,
				 end - pool->mapped))
			return false;
		pool->mapped = end;
	}
	pool->blocks[at] = size;
	*addr = pool->range + at;
	return true;
}

void pool_free(gp_device *device, uint64_t addr, uint64_t)
{
	auto *pool = static_cast<Packing *>(device);

	pool->blocks.erase(addr - pool->range);
}

constexpr gp_device_ops ops_of(decltype(gp_device_ops::malloc) malloc,
			       decltype(gp_device_ops::free) free)
{
	gp_device_ops ops = {};

	ops.name = "lent";
	ops.malloc = malloc;
	ops.free = free;
	ops.info = device_info;
	return ops;
}

const gp_device_ops lent_ops = ops_of(device_malloc, device_free);
const gp_device_ops pool_ops = ops_of(pool_malloc, pool_free);

// ---- the engines ----

struct Heap {
	Heap(const gp_memory *memory, Kind kind)
	{
		simcuda_reset();
		device.ops = kind == Kind::async ? &pool_ops : &lent_ops;
		device.memory = memory;
		simcuda_use_device(0, &device);
		resource = std::make_unique<Resource>(kind);
	}

	Packing device = {};
	std::unique_ptr<Resource> resource;
};

template <Kind kind> void *create(const gp_memory *memory)
{
	try {
		return std::make_unique<Heap>(memory, kind).release();
	} catch (const std::exception &) {
		return nullptr;
	}
}

void destroy(void *self)
{
	delete static_cast<Heap *>(self);
}

bool alloc(void *self, const gp_ask *ask, gp_piece *piece)
{
	auto *heap = static_cast<Heap *>(self);
	// As every resource of RMM hands out.
	const uint64_t size = (ask->size + 255) / 256 * 256;

	if (ask->size > UINT64_C(1) << 47)
		return false;
	try {
		void *block = heap->resource->top->allocate(
			stream_of(ask->stream), ask->size);

		*piece = { reinterpret_cast<uint64_t>(block), size,
			   ask->stream };
		return true;
	} catch (const std::bad_alloc &) {
		return false;
	}
}

void release(void *self, const gp_piece *piece)
{
	static_cast<Heap *>(self)->resource->top->deallocate(
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
SHOWN const gp_engine_table rmm_async = table_of<Kind::async>("rmm-async");
