/* SPDX-License-Identifier: MIT */
/*
 * Segments: memory from the device and back.
 * PyTorch: alloc_block, release_block, release_cached_blocks,
 * release_available_cached_blocks, get_free_block, try_mempool_fallback.
 */
#ifndef CACHING_SEGMENT_H
#define CACHING_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/allocator.h"

struct block;
struct caching;
struct caching_pool;
struct pool_pair;

/* What one malloc asks for. */
struct request {
	struct caching_pool *pool;
	uint64_t rounded;      /* bytes */
	uint64_t segment_size; /* bytes it would ask the device for */
	uint16_t stream;
	bool is_expandable; /* served and split as expandable segments are */
	bool is_restored;   /* the block has to be exactly as large */
};

/* The best free block, still on its shelf; NULL: none fits. */
struct block *segment_find_free(struct caching *c,
				const struct request *request);

/*
 * Memory from the device, and everything PyTorch tries when there is none:
 * the block found is on no shelf.  May change request->is_expandable.
 */
enum gp_answer segment_obtain(struct caching *c, struct request *request,
			      struct block **found);

/* An unsplit free block goes back to the device. */
void segment_release(struct caching *c, struct block *b);

/* release_cached_blocks: index 0 for all, else one private pool's. */
enum gp_answer segment_release_cached(struct caching *c, uint16_t index);

#endif
