/* SPDX-License-Identifier: MIT */
/*
 * Rounding of requests.  PyTorch: DeviceCachingAllocator::round_size,
 * roundup_power2_next_division, get_allocation_size.
 */
#include "gpupool/knob.h"

#include "allocator/release.h"

#define MIB	     (UINT64_C(1) << 20)
#define SEGMENT_STEP (2 * MIB) /* kSmallBuffer and kRoundLarge */

static unsigned log2_of(uint64_t x)
{
	return 63 - (unsigned)__builtin_clzll(x);
}

/* The interval of a size: 0 up to 2 MiB, then one an octave, 15 from 32 GiB. */
static unsigned interval_of(uint64_t size)
{
	unsigned log2 = log2_of(size);

	if (log2 < 20)
		return 0;
	return log2 - 20 < GP_DIVISIONS ? log2 - 20 : GP_DIVISIONS - 1;
}

/* Up to the next of `divisions` steps between two powers of two, or to the
 * power itself when there are more steps than bytes. */
static uint64_t round_to_division(uint64_t size, uint64_t divisions)
{
	uint64_t floor = UINT64_C(1) << log2_of(size);
	uint64_t step = floor >> log2_of(divisions);

	if (size == floor)
		return size;
	return step ? (size + step - 1) & ~(step - 1) : floor << 1;
}

uint64_t gp_settings_round(const struct gp_settings *settings, uint64_t size)
{
	uint64_t divisions;

	if (size < GP_MIN_BLOCK_SIZE)
		return GP_MIN_BLOCK_SIZE;
	divisions = settings->divisions[interval_of(size)];
	if (divisions && size > GP_MIN_BLOCK_SIZE * divisions) {
		if (divisions > 1)
			return round_to_division(size, divisions);
		if (!gp_release_has(settings->release, GP_CHANGE_DIVISION_ONE))
			return size; /* not even to 512 */
	}
	return (size + GP_MIN_BLOCK_SIZE - 1) & ~UINT64_C(511);
}

uint64_t gp_settings_segment(const struct gp_settings *settings,
			     uint64_t rounded)
{
	if (rounded <= MIB)
		return SEGMENT_STEP;
	if (rounded < 10 * MIB)
		return settings->large_segment_size;
	return (rounded + SEGMENT_STEP - 1) / SEGMENT_STEP * SEGMENT_STEP;
}
