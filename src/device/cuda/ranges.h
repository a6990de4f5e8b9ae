/* SPDX-License-Identifier: MIT */
/*
 * What stands behind addresses: ranges that do not overlap, found by any
 * address within.
 */
#ifndef DEVICE_CUDA_RANGES_H
#define DEVICE_CUDA_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/cuda/cuda_calls.h"

/* A page of a reservation; size 0: none begins here. */
struct page {
	cuda_addr handle;
	uint64_t size;
};

struct range {
	uint64_t addr, size; /* as the engine knows them */
	cuda_addr real;
	struct page *pages; /* one each GP_DEVICE_GRAIN; NULL: a block */
	bool is_pooled;	    /* cudaMallocAsync's */
};

struct ranges {
	struct range *items; /* by address */
	size_t count, room;
};

/* The one that holds the address, or NULL; until the next change. */
struct range *ranges_find(const struct ranges *ranges, uint64_t addr);
void ranges_add(struct ranges *ranges, const struct range *range);
void ranges_remove(struct ranges *ranges, const struct range *range);
void ranges_release(struct ranges *ranges);

#endif
