/* SPDX-License-Identifier: MIT */
/* The larger and the smaller of two numbers, and their sum. */
#ifndef BASE_LARGER_H
#define BASE_LARGER_H

#include <stdint.h>

static inline uint64_t gp_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t gp_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* UINT64_MAX: it is no less. */
static inline uint64_t gp_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
