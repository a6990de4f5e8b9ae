/* SPDX-License-Identifier: MIT */
/* Where each release of PyTorch's allocator keeps what the recorder needs. */
#ifndef SIMCUDA_PROGRAM_LAYOUT_H
#define SIMCUDA_PROGRAM_LAYOUT_H

#include <stdint.h>

/* Slots of the virtual functions of
 * c10::cuda::CUDACachingAllocator::CUDAAllocator, and the offset of
 * TraceEntry's pool; 0: the release has none. */
struct layout {
	uint8_t release; /* 2.x */
	uint8_t allocate, raw_alloc, raw_alloc_with_stream, init, initialized;
	uint8_t set_fraction, empty_cache, record_stream;
	uint8_t stats, reset_accumulated, reset_peak;
	/* beginAllocateToPool; before 2.3 beginAllocateStreamToPool */
	uint8_t begin_pool, end_pool, release_pool;
	/* createOrIncrefPool; in 2.6 and 2.7 ensureExistsAndIncrefPool */
	uint8_t create_pool;
	uint8_t use_on_oom, no_split, attach;
	uint8_t restore; /* setCheckpointPoolState */
	uint8_t pool;
};

/* TraceEntry's other members, the same in all releases. */
#define ENTRY_DEVICE 4 /* int8_t */
#define ENTRY_ADDR   8
#define ENTRY_STREAM 32
#define ENTRY_SIZE   40

/* The first releases with the following. */
#define FIRST_WITH_TRACKERS	2 /* attachAllocatorTraceTracker */
#define FIRST_WITH_FILTERS	3 /* beginAllocateToPool takes a function */
#define FIRST_EMPTY_CACHE_POOL	8
#define FIRST_USE_ON_OOM_CHOICE 11 /* setUseOnOOM takes true or false */

/* In releases without trackers: Allocator::raw_deleter and raw_delete. */
#define SLOT_RAW_DELETER 3
#define SLOT_RAW_DELETE	 6

/* NULL: an unknown release. */
const struct layout *layout_of(unsigned release);

/* ---- torch.cuda.memory_stats() of a device, as JSON members ---- */

/* A c10::CachingDeviceAllocator::DeviceStats of PyTorch 2.<release>. */
void counters_write(const char *stats, unsigned release);

/* In bytes; no release's struct is larger. */
#define COUNTERS_ROOM 2048

#endif
