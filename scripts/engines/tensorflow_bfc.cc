// SPDX-License-Identifier: MIT
//
// TensorFlow's own BFCAllocator as an engine of gpupool, as allow_growth sets
// it; the engine bfc of gpupool is held to it.  BFC_PREALLOCATE, BFC_KEEP and
// BFC_FRACTION in the environment are preallocate=true,
// garbage_collection=false and fraction.
#include "gpupool/engine.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "xla/tsl/framework/bfc_allocator.h"

namespace
{

constexpr uint64_t most = UINT64_C(1) << 47;
constexpr uint64_t page = UINT64_C(2) << 20;

class Device final : public tsl::SubAllocator
{
      public:
	explicit Device(const gp_memory *memory)
	    : SubAllocator({}, {}), memory_(memory)
	{
	}

	void *Alloc(size_t, size_t bytes, size_t *received) override
	{
		uint64_t addr = 0;

		if (!bytes || !memory_->malloc(memory_->device, bytes, &addr))
			return nullptr;
		*received = bytes;
		return reinterpret_cast<void *>(addr);
	}

	void Free(void *block, size_t) override
	{
		memory_->free(memory_->device,
			      reinterpret_cast<uint64_t>(block));
	}

	// As cudaMalloc's memory is used.
	bool SupportsCoalescing() const override
	{
		return false;
	}

      private:
	const gp_memory *memory_;
};

void *create(const gp_memory *memory)
{
	const char *fraction = std::getenv("BFC_FRACTION");
	tsl::BFCAllocator::Options options;
	uint64_t unused = 0, total = 0;

	memory->info(memory->device, &unused, &total);
	options.allow_growth = !std::getenv("BFC_PREALLOCATE");
	options.garbage_collection = !std::getenv("BFC_KEEP");
	options.allow_retry_on_failure = false;
	// Whole pages, which is how jaxlib sets it.
	const auto bytes = static_cast<size_t>(
		static_cast<double>(std::min(total, most)) *
		static_cast<float>(fraction ? std::atof(fraction) : 1));
	return new tsl::BFCAllocator(std::make_unique<Device>(memory),
				     (bytes + page - 1) / page * page, "bfc",
				     options);
}

bool alloc(void *self, const gp_ask *ask, gp_piece *piece)
{
	auto *bfc = static_cast<tsl::BFCAllocator *>(self);
	// No log of what is in use where there is no memory.
	const tsl::AllocationAttributes quiet(false, true, nullptr);
	void *block = ask->size > most
			      ? nullptr
			      : bfc->AllocateRaw(256, ask->size, quiet);

	if (!block)
		return false;
	*piece = { reinterpret_cast<uint64_t>(block), bfc->AllocatedSize(block),
		   0 };
	return true;
}

void release(void *self, const gp_piece *piece)
{
	static_cast<tsl::BFCAllocator *>(self)->DeallocateRaw(
		reinterpret_cast<void *>(piece->addr));
}

const gp_engine_table table = {
	GP_ENGINE_VERSION,
	1,
	"tensorflow-bfc",
	"TensorFlow's own",
	create,
	nullptr,
	alloc,
	release,
	nullptr,
	nullptr,
	nullptr,
};

} // namespace

GP_ENGINE(table)
