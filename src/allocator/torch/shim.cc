/* SPDX-License-Identifier: MIT */
// Drives the caching allocator in a PyTorch wheel's libc10_cuda.so: only what
// needs the headers of that release.  SHIM_RELEASE is the x of 2.x.  This file
// has requests, shim_pool.cc pools, shim_state.cc counters and state.
#include "allocator/torch/shim_parts.hh"

#if __has_include(<c10/cuda/PeerToPeerAccess.h>)
#include <c10/cuda/PeerToPeerAccess.h>
#endif

#include <cstdio>
#include <utility>

#include "allocator/torch/helper.h"

// Exported by libc10_cuda.so, but declared in none of its headers:
// libtorch_cuda.so sets through it which devices are in use.
#if SHIM_RELEASE >= 1
namespace c10::cuda::_internal
{
void setHasPrimaryContext(bool (*has)(c10::DeviceIndex));
}
#endif

using Entry = allocator::TraceEntry;

// The most trace entries kept per request in releases without trackers.
constexpr size_t kRing = 1 << 16;

char shim_text[TORCH_TEXT_MOST];
void (*shim_on_action)(const struct torch_message *);
c10::DeviceIndex shim_device;
bool shim_is_quiet;

void shim_keep_text(const char *text)
{
	snprintf(shim_text, sizeof(shim_text), "%s", text);
}

// ---- actions ----

static void send_action(const Entry &entry)
{
	torch_message message{};

	// no request asks for a snapshot
	if (shim_is_quiet || entry.action_ == Entry::SNAPSHOT)
		return;
	message.kind = TORCH_ACTION;
	message.what = static_cast<uint32_t>(entry.action_);
#if SHIM_RELEASE == 0
	// segment_map and segment_unmap exist from 2.1 on
	if (message.what >= TORCH_DID_SEGMENT_MAP)
		message.what += 2;
#endif
	message.addr = static_cast<uint64_t>(entry.addr_);
	message.size = static_cast<uint64_t>(entry.size_);
	message.stream = reinterpret_cast<uint64_t>(entry.stream_);
#if SHIM_RELEASE >= 12
	message.pool[0] = entry.mempool_.first;
	message.pool[1] = entry.mempool_.second;
#endif
	shim_on_action(&message);
}

#if SHIM_RELEASE >= 2

static void watch_actions()
{
	allocator::attachAllocatorTraceTracker(send_action);
}

void shim_flush_actions()
{
}

#else

// Enabling the recording clears the ring of entries.
static void watch_actions()
{
#if SHIM_RELEASE == 1
	allocator::recordHistory(true, nullptr, kRing,
				 allocator::RecordContext::NEVER);
#else
	allocator::recordHistory(true, nullptr, kRing, false);
#endif
}

void shim_flush_actions()
{
	auto info = allocator::snapshot();

	for (const Entry &entry : info.device_traces.at(shim_device))
		send_action(entry);
	watch_actions();
}

#endif

// ---- requests ----

int shim_release()
{
	return SHIM_RELEASE;
}

int shim_start(int ordinal)
{
	shim_device = static_cast<c10::DeviceIndex>(ordinal);
	return guarded([&] {
		// Freeing nullptr creates the context that calls of the driver
		// need.
		cudaError_t error = cudaSetDevice(ordinal);
		if (error == cudaSuccess)
			error = cudaFree(nullptr);
		if (error != cudaSuccess)
			throw std::runtime_error(cudaGetErrorString(error));
#if __has_include(<c10/cuda/PeerToPeerAccess.h>)
		c10::cuda::detail::init_p2p_access_cache(ordinal + 1);
#endif
#if SHIM_RELEASE >= 1
		c10::cuda::_internal::setHasPrimaryContext(
			[](c10::DeviceIndex) { return true; });
#endif
		allocator::init(ordinal + 1);
		watch_actions();
	});
}

// A request that names its pool is routed there while it is served.
int shim_alloc(uint64_t size, uint64_t stream, const uint64_t pool[2],
	       uint64_t *addr)
{
	bool is_routed = pool[0] || pool[1];
	int answer = TORCH_SERVED;

	if (is_routed)
		answer = guarded([&] { shim_route_request(pool); });
	if (answer != TORCH_SERVED)
		return answer;
	answer = guarded([&] {
		*addr = reinterpret_cast<uint64_t>(
			allocator::raw_alloc_with_stream(
				size, reinterpret_cast<cudaStream_t>(stream)));
	});
	if (is_routed)
		shim_unroute_request(pool);
	return answer;
}

int shim_free(uint64_t addr)
{
	return guarded(
		[&] { allocator::raw_delete(reinterpret_cast<void *>(addr)); });
}

int shim_record_stream(uint64_t addr, uint64_t stream)
{
	void *pointer = reinterpret_cast<void *>(addr);
	c10::DataPtr data(pointer, pointer, allocator::get()->raw_deleter(),
			  c10::Device(c10::kCUDA, shim_device));
	int answer = guarded([&] {
		allocator::recordStream(
			data, c10::cuda::getStreamFromExternal(
				      reinterpret_cast<cudaStream_t>(stream),
				      shim_device));
	});

	data.release_context(); // otherwise it would free the block
	return answer;
}

#if SHIM_RELEASE == 6 || SHIM_RELEASE == 7
// Stands for a c10::cuda::MemPool, whose constructor would create another pool.
struct named_pool {
	void *allocator;
	bool is_user_created;
	c10::cuda::MempoolId_t id;
	c10::DeviceIndex device;
};

static_assert(sizeof(named_pool) == sizeof(c10::cuda::MemPool));

// In these releases emptyCache() applies to the pool of the innermost context
// or, without one, to all pools.
static void empty_cache(const uint64_t pool[2])
{
	named_pool named = { nullptr, true, id_of(pool), shim_device };
	c10::cuda::MemPoolContext context(
		pool[0] || pool[1]
			? reinterpret_cast<c10::cuda::MemPool *>(&named)
			: nullptr);

	allocator::emptyCache();
}
#else
static void empty_cache(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 8
	allocator::get()->emptyCache(id_of(pool));
#else
	(void)pool;
	allocator::emptyCache();
#endif
}
#endif

int shim_empty_cache(const uint64_t pool[2])
{
	return guarded([&] { empty_cache(pool); });
}

int shim_set_fraction(double fraction)
{
	return guarded(
		[&] { allocator::setMemoryFraction(fraction, shim_device); });
}

int shim_set_settings(const char *conf)
{
	return guarded([&] { allocator::setAllocatorSettings(conf); });
}

int main(int argc, char **argv)
{
	return torch_helper_run(argc, argv);
}
