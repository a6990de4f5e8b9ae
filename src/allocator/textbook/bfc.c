/* SPDX-License-Identifier: MIT */
/*
 * BFC, best fit with coalescing, of XLA (JAX) and TensorFlow: class
 * BFCAllocator in xla/tsl/framework/bfc_allocator.cc, as of TensorFlow 2.21 and
 * jaxlib 0.10.2.
 *
 *     RoundedBytes           sizes are multiples of 256 bytes
 *     FindChunkPtr           the smallest free chunk, the lowest of equal ones;
 *                            its bins are ordered by size, and so are chunks in
 *                            a bin. A chunk is split if it is at least twice as
 *                            large as the request, or larger than it by at
 *                            least max_internal_fragmentation_bytes_
 *     Extend                 regions of 2 MiB, 4 MiB ..., doubling, up to a
 *                            limit; without allow_growth all of it at once; if
 *                            the device has less, in steps of a tenth less
 *     DeallocateFreeRegions  free regions are released before an OOM
 *
 * One allocator serves all streams, because programs of XLA and TensorFlow
 * compute on one. TensorFlow compares the timestamps of chunks only if it is
 * given a counter (SetTimingCounter), as for several streams in one process.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/keeper.h"
#include "allocator/textbook/region_heap.h"
#include "allocator/textbook/textbook.h"
#include "base/larger.h"

#define GRAIN	     256		   /* kMinAllocationSize */
#define FIRST_REGION (UINT64_C(2) << 20)   /* bytes */
#define MOST_WASTE   (UINT64_C(128) << 20) /* bytes */
#define BACKPEDAL    0.9F		   /* kBackpedalFactor */
#define PAGE	     (UINT64_C(2) << 20)   /* bytes */

struct bfc {
	struct region_heap regions; /* must be first */
	uint64_t limit;		    /* most bytes that may be reserved */
	uint64_t next_region;	    /* its size in bytes */
	uint64_t most_waste;	    /* a chunk larger by this much is split */
	bool collects;
};

static uint64_t rounded(uint64_t size)
{
	return gp_round_up(size, GRAIN);
}

/* jaxlib's fraction is a float, and its limit is rounded up to whole pages of
 * the device. */
static uint64_t limit(uint64_t total, double fraction)
{
	uint64_t bytes = (uint64_t)((double)total * (float)fraction);

	return gp_round_up(bytes, PAGE);
}

static bool is_true(const struct gp_memory *memory, const char *name)
{
	return !strcmp(keeper_setting(memory, name), "true");
}

static double number(const struct gp_memory *memory, const char *name)
{
	return strtod(keeper_setting(memory, name), NULL);
}

static void *create(const struct gp_memory *memory)
{
	struct bfc *b = regions_create(memory, sizeof(*b));
	double fragmentation = number(memory, "fragmentation");
	uint64_t unused, total;

	memory->info(memory->device, &unused, &total);
	if (total > HEAP_ADDRESSES)
		total = HEAP_ADDRESSES;
	b->limit = limit(total, number(memory, "fraction"));
	b->collects = is_true(memory, "garbage_collection");
	b->most_waste = fragmentation > 0
				? (uint64_t)(fragmentation * (double)b->limit)
				: MOST_WASTE;
	b->next_region = rounded(b->limit);
	if (!is_true(memory, "preallocate") && b->limit > FIRST_REGION)
		b->next_region = FIRST_REGION;
	return b;
}

/* If the device has too little memory, requests less, down to the size
 * needed. */
static bool backpedal(struct bfc *b, uint64_t bytes, uint64_t size)
{
	for (;;) {
		uint64_t less = rounded((uint64_t)((float)bytes * BACKPEDAL));

		bytes = less < bytes ? less : bytes - GRAIN;
		if (bytes < size)
			return false;
		if (regions_add(&b->regions, bytes))
			return true;
	}
}

static bool extend(struct bfc *b, uint64_t size)
{
	uint64_t available = (b->limit - b->regions.held) / GRAIN * GRAIN;
	uint64_t bytes;
	bool is_doubled = false;

	if (size > available)
		return false;
	for (; size > b->next_region; b->next_region *= 2)
		is_doubled = true;
	bytes = b->next_region < available ? b->next_region : available;
	if (!regions_add(&b->regions, bytes) && !backpedal(b, bytes, size))
		return false;
	if (!is_doubled)
		b->next_region *= 2;
	return true;
}

static bool collect(struct bfc *b, uint64_t size)
{
	uint64_t unused = b->collects ? regions_unused(&b->regions) : 0;

	if (!unused || size > b->limit - b->regions.held + unused)
		return false;
	regions_trim(b);
	return true;
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct bfc *b = self;
	struct heap *heap = &b->regions.heap;
	uint64_t size = rounded(ask->size), there;
	uint32_t block;

	if (ask->size > HEAP_ADDRESSES)
		return false;
	block = regions_find(&b->regions, size);
	if (!block &&
	    (extend(b, size) || (collect(b, size) && extend(b, size))))
		block = regions_find(&b->regions, size);
	if (!block)
		return false;
	there = heap->blocks[block].size;
	heap_cut(heap, block,
		 there >= 2 * size || there - size >= b->most_waste ? size
								    : there);
	*piece = regions_piece(&b->regions, block);
	return true;
}

const struct gp_engine_table textbook_bfc = {
	.version = GP_ENGINE_VERSION,
	.is_shared = true,
	.name = "bfc",
	.create = create,
	.destroy = regions_destroy,
	.alloc = alloc,
	.free = heap_free,
	.largest_free = heap_largest_free,
};
