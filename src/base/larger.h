/* SPDX-License-Identifier: MIT */
/* The larger and the smaller of two numbers, one of them, their sum, the next
 * multiple, and what both are multiples of. */
#ifndef BASE_LARGER_H
#define BASE_LARGER_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t gp_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t gp_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a or b without a branch, for choices that no processor foretells. */
static inline uint64_t gp_pick(bool is_a, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & -(uint64_t)is_a);
}

/* UINT64_MAX: it is no less. */
static inline uint64_t gp_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* x itself where it is one. */
static inline uint64_t gp_round_up(uint64_t x, uint64_t unit)
{
	return (x + unit - 1) / unit * unit;
}

/* The greatest, by Euclid; of 0 and another it is the other. */
static inline uint64_t gp_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
