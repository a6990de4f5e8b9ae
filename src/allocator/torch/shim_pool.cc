/* SPDX-License-Identifier: MIT */
// Pools and captures, as far as the release supports them.
#include "allocator/torch/shim_parts.hh"

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

// Even, as PyTorch requires of external streams, and unique.
constexpr uint64_t kCaptureStream = 0x5d0000000000;

// By pool, the stream on which its capture began.
static std::map<std::pair<uint64_t, uint64_t>, cudaStream_t> captured;
// Pools that were ever used by a capture of a named stream.
static std::set<std::pair<uint64_t, uint64_t>> known;

// ---- routing ----

// Routes allocations on the streams that `accepts` selects.
template <typename Filter>
static void route_streams(const uint64_t pool[2], Filter accepts)
{
#if SHIM_RELEASE >= 3
	allocator::beginAllocateToPool(shim_device, id_of(pool), accepts);
#else
	(void)pool;
	(void)accepts;
#endif
}

void shim_route(const uint64_t pool[2])
{
	route_streams(pool, [](cudaStream_t) { return true; });
}

void shim_unroute(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 3
	allocator::endAllocateToPool(shim_device, id_of(pool));
#else
	(void)pool;
#endif
}

// ---- captures ----

// Ignores CUDA's errors about the capture itself (a wait for uncaptured work, a
// stream that was not joined): they do not concern the allocator.
static void forget_error()
{
	cudaGetLastError();
}

static unsigned long long capture_of(cudaStream_t stream)
{
	cudaStreamCaptureStatus status;
	unsigned long long id = 0;

	cudaStreamGetCaptureInfo(stream, &status, &id);
	return id;
}

// Captures begin on the current stream.
static void start_capture(const uint64_t pool[2], cudaStream_t stream)
{
	c10::cuda::setCurrentCUDAStream(
		c10::cuda::getStreamFromExternal(stream, shim_device));
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	captured[{ pool[0], pool[1] }] = stream;
#if SHIM_RELEASE >= 13
	allocator::markCaptureBegin(shim_device);
#endif
}

// If the trace does not name the stream, the capture gets one of its own.
static void begin_capture(const uint64_t pool[2])
{
	shim_route(pool);
	start_capture(pool, reinterpret_cast<cudaStream_t>(kCaptureStream));
}

// The graph's id is known only after the capture began, hence after the route.
int shim_capture(const uint64_t pool[2], uint64_t handle)
{
	auto stream = reinterpret_cast<cudaStream_t>(handle);
	auto graph = std::make_shared<unsigned long long>(0);

	known.insert({ pool[0], pool[1] });
	return guarded([&] {
		if (capture_of(stream))
			throw std::runtime_error(
				"the stream is being captured");
		route_streams(pool, [graph](cudaStream_t candidate) {
			return *graph && capture_of(candidate) == *graph;
		});
#if SHIM_RELEASE == 1 || SHIM_RELEASE == 2
		allocator::beginAllocateStreamToPool(shim_device, stream,
						     id_of(pool));
#endif
		start_capture(pool, stream);
		*graph = capture_of(stream);
#if SHIM_RELEASE == 0
		allocator::notifyCaptureBegin(shim_device, *graph, id_of(pool));
#endif
	});
}

void shim_wait(uint64_t stream, uint64_t by)
{
	cudaEvent_t event;

	cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
	cudaEventRecord(event, reinterpret_cast<cudaStream_t>(stream));
	cudaStreamWaitEvent(reinterpret_cast<cudaStream_t>(by), event, 0);
	cudaEventDestroy(event);
	forget_error();
}

static void end_capture(const uint64_t pool[2])
{
	cudaGraph_t graph = nullptr;
	auto found = captured.find({ pool[0], pool[1] });

#if SHIM_RELEASE >= 13
	allocator::markCaptureEnd(shim_device);
#endif
	if (found != captured.end()) {
		cudaStream_t stream = found->second;
		unsigned long long id = capture_of(stream);

		captured.erase(found);
#if SHIM_RELEASE == 0
		allocator::notifyCaptureAboutToEnd(shim_device, id);
#endif
		cudaStreamEndCapture(stream, &graph);
		forget_error();
#if SHIM_RELEASE == 0
		allocator::notifyCaptureEnded(shim_device, id);
#elif SHIM_RELEASE < 3
		allocator::endAllocateStreamToPool(shim_device, stream);
#endif
		(void)id;
	}
	cudaGraphDestroy(graph);
	c10::cuda::setCurrentCUDAStream(
		c10::cuda::getDefaultCUDAStream(shim_device));
	shim_unroute(pool);
}

// Whether only a capture routes to the pool, which made it for itself, and
// the release tells captures from other routes.
static bool is_captures(const uint64_t pool[2])
{
	return SHIM_RELEASE >= 13 && pool[0];
}

void shim_route_request(const uint64_t pool[2])
{
	if (is_captures(pool))
		begin_capture(pool);
	else
		shim_route(pool);
}

void shim_unroute_request(const uint64_t pool[2])
{
	if (is_captures(pool))
		end_capture(pool);
	else
		shim_unroute(pool);
}

// ---- pools ----

static void set_use_on_oom(const uint64_t pool[2], bool use)
{
#if SHIM_RELEASE >= 11
	allocator::get()->setUseOnOOM(shim_device, id_of(pool), use);
#elif SHIM_RELEASE >= 8
	// this release cannot revoke it
	if (use)
		allocator::get()->setUseOnOOM(shim_device, id_of(pool));
#else
	(void)pool;
	(void)use;
#endif
}

static void create(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 8
	allocator::get()->createOrIncrefPool(shim_device, id_of(pool), nullptr);
#elif SHIM_RELEASE >= 6
	allocator::get()->ensureExistsAndIncrefPool(shim_device, id_of(pool));
#else
	(void)pool;
#endif
}

static void set_no_split(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 10
	allocator::get()->setNoSplit(shim_device, id_of(pool));
#else
	(void)pool;
#endif
}

static void release(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 3
	allocator::releasePool(shim_device, id_of(pool));
#else
	// only captures create pools
	if (!known.count({ pool[0], pool[1] }))
		return;
#if SHIM_RELEASE >= 1
	allocator::releasePool(shim_device, id_of(pool));
#else
	allocator::notifyCaptureDestroy(shim_device, id_of(pool));
#endif
#endif
}

static void change_pool(enum torch_op op, const uint64_t pool[2])
{
	switch (op) {
	case TORCH_CAPTURE_BEGIN: begin_capture(pool); break;
	case TORCH_CAPTURE_END: end_capture(pool); break;
	case TORCH_POOL_BEGIN: shim_route(pool); break;
	case TORCH_POOL_END: shim_unroute(pool); break;
	case TORCH_POOL_CREATE: create(pool); break;
	case TORCH_POOL_USE_ON_OOM: set_use_on_oom(pool, true); break;
	case TORCH_POOL_NO_USE_ON_OOM: set_use_on_oom(pool, false); break;
	case TORCH_POOL_NO_SPLIT: set_no_split(pool); break;
	default: release(pool); break;
	}
}

int shim_pool(enum torch_op op, const uint64_t pool[2])
{
	return guarded([&] { change_pool(op, pool); });
}
