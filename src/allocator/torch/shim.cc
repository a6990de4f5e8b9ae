// Drives the caching allocator inside a PyTorch wheel's libc10_cuda.so: no more
// than what needs that release's own headers.  SHIM_RELEASE is the x of 2.x.
#include "allocator/torch/shim.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#if __has_include(<c10/cuda/CUDAAllocatorConfig.h>)
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#if __has_include(<c10/cuda/PeerToPeerAccess.h>)
#include <c10/cuda/PeerToPeerAccess.h>
#endif

#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocator/torch/helper.h"

namespace allocator = c10::cuda::CUDACachingAllocator;

// Exported by libc10_cuda.so but in none of its headers: libtorch_cuda.so says
// through it which devices are in use.
#if SHIM_RELEASE >= 1
namespace c10::cuda::_internal
{
void setHasPrimaryContext(bool (*has)(c10::DeviceIndex));
}
#endif

#if SHIM_RELEASE >= 5
using c10::CachingDeviceAllocator::DeviceStats;
#else
using allocator::DeviceStats;
#endif
using Entry = allocator::TraceEntry;

// Entries of a request that are kept where no tracker can be attached.
constexpr size_t kRing = 1 << 16;

// Even, as PyTorch wants streams from outside, and nobody else's.
constexpr uint64_t kCaptureStream = 0x5d0000000000;

char shim_text[TORCH_TEXT_MOST];
void (*shim_on_action)(const struct torch_message *);

static c10::DeviceIndex device;
static bool is_quiet;

// The stream that each pool's capture began on.
static std::map<std::pair<uint64_t, uint64_t>, cudaStream_t> captured;
// Pools that a capture of a named stream ever had.
static std::set<std::pair<uint64_t, uint64_t>> known;

static c10::cuda::MempoolId_t id_of(const uint64_t pool[2])
{
	return { pool[0], pool[1] };
}

// ---- errors ----

static void keep_text(const char *text)
{
	snprintf(shim_text, sizeof(shim_text), "%s", text);
}

// Runs it and answers; what PyTorch throws ends here.
template <typename Function> static int guarded(Function function)
{
	*shim_text = 0;
	try {
		function();
		return TORCH_SERVED;
	} catch (const c10::OutOfMemoryError &error) {
		keep_text(error.what_without_backtrace());
		return TORCH_OUT_OF_MEMORY;
	} catch (const c10::Error &error) {
		keep_text(error.what_without_backtrace());
	} catch (const std::exception &error) {
		keep_text(error.what());
	}
	return TORCH_ERROR;
}

// ---- actions ----

static void tell_action(const Entry &entry)
{
	torch_message message{};

	// no request asks for a snapshot
	if (is_quiet || entry.action_ == Entry::SNAPSHOT)
		return;
	message.kind = TORCH_ACTION;
	message.what = static_cast<uint32_t>(entry.action_);
#if SHIM_RELEASE == 0
	// segment_map and segment_unmap came with 2.1
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
	allocator::attachAllocatorTraceTracker(tell_action);
}

void shim_flush_actions()
{
}

#else

// Switching recording on empties the ring.
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

	for (const Entry &entry : info.device_traces.at(device))
		tell_action(entry);
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
	device = static_cast<c10::DeviceIndex>(ordinal);
	cudaSetDevice(ordinal);
	return guarded([&] {
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

// accepts: which streams' allocations go there.
template <typename Filter>
static void route(const uint64_t pool[2], Filter accepts)
{
#if SHIM_RELEASE >= 3
	allocator::beginAllocateToPool(device, id_of(pool), accepts);
#else
	(void)pool;
	(void)accepts;
#endif
}

static void route(const uint64_t pool[2])
{
	route(pool, [](cudaStream_t) { return true; });
}

static void unroute(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 3
	allocator::endAllocateToPool(device, id_of(pool));
#else
	(void)pool;
#endif
}

// A request that names its pool is routed there for as long as it takes.
int shim_alloc(uint64_t size, uint64_t stream, const uint64_t pool[2],
	       uint64_t *addr)
{
	bool is_routed = pool[0] || pool[1];
	int answer = TORCH_SERVED;

	if (is_routed)
		answer = guarded([&] { route(pool); });
	if (answer != TORCH_SERVED)
		return answer;
	answer = guarded([&] {
		*addr = reinterpret_cast<uint64_t>(
			allocator::raw_alloc_with_stream(
				size, reinterpret_cast<cudaStream_t>(stream)));
	});
	if (is_routed)
		unroute(pool);
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
			  c10::Device(c10::kCUDA, device));
	int answer = guarded([&] {
		allocator::recordStream(
			data, c10::cuda::getStreamFromExternal(
				      reinterpret_cast<cudaStream_t>(stream),
				      device));
	});

	data.release_context(); // or it would free the block
	return answer;
}

int shim_empty_cache(const uint64_t pool[2])
{
	return guarded([&] {
#if SHIM_RELEASE >= 8
		allocator::get()->emptyCache(id_of(pool));
#else
		(void)pool;
		allocator::emptyCache();
#endif
	});
}

int shim_set_fraction(double fraction)
{
	return guarded([&] { allocator::setMemoryFraction(fraction, device); });
}

int shim_set_settings(const char *conf)
{
	return guarded([&] { allocator::setAllocatorSettings(conf); });
}

// What CUDA refuses of a capture, a wait for what is not captured or a stream
// that nobody waits for at its end, is no affair of the allocator's.
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

// Captures happen on the current stream.
static void start_capture(const uint64_t pool[2], cudaStream_t stream)
{
	c10::cuda::setCurrentCUDAStream(
		c10::cuda::getStreamFromExternal(stream, device));
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	captured[{ pool[0], pool[1] }] = stream;
#if SHIM_RELEASE >= 13
	allocator::markCaptureBegin(device);
#endif
}

// Where the trace does not name the stream: one of its own.
static void begin_capture(const uint64_t pool[2])
{
	route(pool);
	start_capture(pool, reinterpret_cast<cudaStream_t>(kCaptureStream));
}

// The graph's number is known when the capture has begun, behind the route.
int shim_capture(const uint64_t pool[2], uint64_t handle)
{
	auto stream = reinterpret_cast<cudaStream_t>(handle);
	auto graph = std::make_shared<unsigned long long>(0);

	known.insert({ pool[0], pool[1] });
	return guarded([&] {
		if (capture_of(stream))
			throw std::runtime_error(
				"the stream is being captured");
		route(pool, [graph](cudaStream_t candidate) {
			return *graph && capture_of(candidate) == *graph;
		});
#if SHIM_RELEASE == 1 || SHIM_RELEASE == 2
		allocator::beginAllocateStreamToPool(device, stream,
						     id_of(pool));
#endif
		start_capture(pool, stream);
		*graph = capture_of(stream);
#if SHIM_RELEASE == 0
		allocator::notifyCaptureBegin(device, *graph, id_of(pool));
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
	allocator::markCaptureEnd(device);
#endif
	if (found != captured.end()) {
		cudaStream_t stream = found->second;
		unsigned long long id = capture_of(stream);

		captured.erase(found);
#if SHIM_RELEASE == 0
		allocator::notifyCaptureAboutToEnd(device, id);
#endif
		cudaStreamEndCapture(stream, &graph);
		forget_error();
#if SHIM_RELEASE == 0
		allocator::notifyCaptureEnded(device, id);
#elif SHIM_RELEASE < 3
		allocator::endAllocateStreamToPool(device, stream);
#endif
		(void)id;
	}
	cudaGraphDestroy(graph);
	c10::cuda::setCurrentCUDAStream(
		c10::cuda::getDefaultCUDAStream(device));
	unroute(pool);
}

static void set_use_on_oom(const uint64_t pool[2], bool use)
{
#if SHIM_RELEASE >= 11
	allocator::get()->setUseOnOOM(device, id_of(pool), use);
#elif SHIM_RELEASE >= 8
	// it cannot be withdrawn yet
	if (use)
		allocator::get()->setUseOnOOM(device, id_of(pool));
#else
	(void)pool;
	(void)use;
#endif
}

static void create(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 8
	allocator::get()->createOrIncrefPool(device, id_of(pool), nullptr);
#elif SHIM_RELEASE >= 6
	allocator::get()->ensureExistsAndIncrefPool(device, id_of(pool));
#else
	(void)pool;
#endif
}

static void set_no_split(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 10
	allocator::get()->setNoSplit(device, id_of(pool));
#else
	(void)pool;
#endif
}

static void release(const uint64_t pool[2])
{
#if SHIM_RELEASE >= 3
	allocator::releasePool(device, id_of(pool));
#else
	// only captures make pools
	if (!known.count({ pool[0], pool[1] }))
		return;
#if SHIM_RELEASE >= 1
	allocator::releasePool(device, id_of(pool));
#else
	allocator::notifyCaptureDestroy(device, id_of(pool));
#endif
#endif
}

static void change_pool(enum torch_op op, const uint64_t pool[2])
{
	switch (op) {
	case TORCH_CAPTURE_BEGIN: begin_capture(pool); break;
	case TORCH_CAPTURE_END: end_capture(pool); break;
	case TORCH_POOL_BEGIN: route(pool); break;
	case TORCH_POOL_END: unroute(pool); break;
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

void shim_reset_peak()
{
	allocator::resetPeakStats(device);
}

void shim_reset_accumulated()
{
	allocator::resetAccumulatedStats(device);
}

// ---- counters and state ----

template <typename Stat> static void copy(int64_t to[4], const Stat &stat)
{
	to[0] = stat.current;
	to[1] = stat.peak;
	to[2] = stat.allocated;
	to[3] = stat.freed;
}

template <typename Array>
static void copy_all(int64_t to[3][4], const Array &stats)
{
	for (int kind = 0; kind < 3; kind++)
		copy(to[kind], stats[kind]);
}

void shim_counters(struct torch_counters *c)
{
	DeviceStats stats = allocator::getDeviceStats(device);
	int64_t *number = c->numbers;

	copy_all(c->by_pool[0], stats.allocation);
	copy_all(c->by_pool[1], stats.segment);
	copy_all(c->by_pool[2], stats.active);
	copy_all(c->by_pool[3], stats.inactive_split);
	copy_all(c->by_pool[4], stats.allocated_bytes);
	copy_all(c->by_pool[5], stats.reserved_bytes);
	copy_all(c->by_pool[6], stats.active_bytes);
	copy_all(c->by_pool[7], stats.inactive_split_bytes);
	copy_all(c->by_pool[8], stats.requested_bytes);
	copy(c->oversize[0], stats.oversize_allocations);
	copy(c->oversize[1], stats.oversize_segments);
	memset(c->numbers, 0, sizeof(c->numbers));
	number[0] = stats.num_alloc_retries;
	number[1] = stats.num_ooms;
#if SHIM_RELEASE >= 12
	number[2] = stats.num_oom_rejections;
#endif
#if SHIM_RELEASE >= 3
	number[3] = stats.num_sync_all_streams;
	number[4] = stats.num_device_alloc;
	number[5] = stats.num_device_free;
#endif
	number[6] = stats.max_split_size;
}

template <typename Block> static torch_message block_message(const Block &block)
{
	torch_message message{};

	message.kind = TORCH_BLOCK;
	message.what = block.allocated ? 1 : block.active ? 2 : 0;
	message.size = block.size;
	message.page = block.requested_size;
	return message;
}

template <typename Segment>
static torch_message segment_message(const Segment &segment)
{
	torch_message message{};

	message.kind = TORCH_SEGMENT;
	message.what = segment.is_large ? 0 : TORCH_IS_SMALL;
	message.addr = static_cast<uint64_t>(segment.address);
	message.size = segment.total_size;
	message.stream = reinterpret_cast<uint64_t>(segment.stream);
#if SHIM_RELEASE >= 1
	if (segment.is_expandable)
		message.what |= TORCH_IS_EXPANDABLE;
	message.pool[0] = segment.owner_private_pool_id.first;
	message.pool[1] = segment.owner_private_pool_id.second;
#endif
	return message;
}

void shim_state(void (*tell)(const struct torch_message *))
{
	is_quiet = true;
	for (const auto &segment : allocator::snapshot().segments) {
		torch_message message = segment_message(segment);

		if (segment.device != device)
			continue;
		tell(&message);
		for (const auto &block : segment.blocks) {
			message = block_message(block);
			tell(&message);
		}
	}
	is_quiet = false;
}

int main(int argc, char **argv)
{
	return torch_helper_run(argc, argv);
}
