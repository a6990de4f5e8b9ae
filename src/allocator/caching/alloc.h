/* SPDX-License-Identifier: MIT */
/*
 * Serving a request: the ops `alloc` and `restore` of the caching engine.
 * PyTorch: DeviceCachingAllocator::malloc, alloc_found_block, should_split,
 * setSegmentStateToCheckpoint.
 */
#ifndef CACHING_ALLOC_H
#define CACHING_ALLOC_H

#include "gpupool/allocator.h"

enum gp_answer alloc_serve(struct gp_allocator *allocator, uint32_t id,
			   uint64_t size, uint16_t stream, uint16_t pool,
			   uint64_t *addr);
enum gp_answer alloc_restore(struct gp_allocator *allocator, uint32_t id,
			     uint64_t size, uint16_t stream, uint16_t pool,
			     uint64_t *addr);

#endif
