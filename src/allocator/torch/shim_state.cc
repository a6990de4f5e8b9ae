/* SPDX-License-Identifier: MIT */
// PyTorch's counters, segments and blocks.
#include "allocator/torch/shim_parts.hh"

#include <cstring>

#if SHIM_RELEASE >= 5
using c10::CachingDeviceAllocator::DeviceStats;
#else
using allocator::DeviceStats;
#endif

// ---- counters ----

void shim_reset_peak()
{
	allocator::resetPeakStats(shim_device);
}

void shim_reset_accumulated()
{
	allocator::resetAccumulatedStats(shim_device);
}

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
	DeviceStats stats = allocator::getDeviceStats(shim_device);
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

// ---- state ----

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

void shim_state(void (*send)(const struct torch_message *))
{
	shim_is_quiet = true;
	for (const auto &segment : allocator::snapshot().segments) {
		torch_message message = segment_message(segment);

		if (segment.device != shim_device)
			continue;
		send(&message);
		for (const auto &block : segment.blocks) {
			message = block_message(block);
			send(&message);
		}
	}
	shim_is_quiet = false;
}
