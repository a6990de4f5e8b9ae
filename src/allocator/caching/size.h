/* SPDX-License-Identifier: MIT */
/*
 * Sizes: pools, and what segment a request asks for.
 * PyTorch: get_allocation_size; gp_settings_round is its round_size.
 * The constants are the same in all releases.
 */
#ifndef CACHING_SIZE_H
#define CACHING_SIZE_H

#include <stdint.h>

#include "gpupool/knob.h"

#define MIB		(UINT64_C(1) << 20)
#define SMALL_SIZE	MIB	   /* kSmallSize: largest of the small pool */
#define SMALL_BUFFER	(2 * MIB)  /* kSmallBuffer */
#define MIN_LARGE_ALLOC (10 * MIB) /* kMinLargeAlloc */
#define ROUND_LARGE	(2 * MIB)  /* kRoundLarge */
/* Larger requests are cut to this, so that sums of sizes cannot overflow; no
 * trace has them. */
#define LARGEST_REQUEST ((uint64_t)INT64_MAX)

static inline uint64_t round_up(uint64_t x, uint64_t unit)
{
	return (x + unit - 1) / unit * unit;
}

/* Bytes of the segment that a request of that rounded size asks for. */
static inline uint64_t size_of_segment(const struct gp_settings *settings,
				       uint64_t rounded)
{
	if (rounded <= SMALL_SIZE)
		return SMALL_BUFFER;
	if (rounded < MIN_LARGE_ALLOC)
		return settings->large_segment_size;
	return round_up(rounded, ROUND_LARGE);
}

#endif
