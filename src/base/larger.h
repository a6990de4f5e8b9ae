/* SPDX-License-Identifier: MIT */
/* Arithmetic: the larger or smaller of two numbers, a choice, a saturating sum,
 * the next multiple, the greatest common divisor. */
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

/* a or b without a branch, for choices that branch prediction cannot
 * predict. */
static inline uint64_t gp_pick(bool is_a, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & -(uint64_t)is_a);
}

/* Saturates at UINT64_MAX. */
static inline uint64_t gp_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The smallest multiple of unit that is at least x. */
static inline uint64_t gp_round_up(uint64_t x, uint64_t unit)
{
	return (x + unit - 1) / unit * unit;
}

/* The greatest common divisor, by Euclid's algorithm; gcd(a, 0) = a. */
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
