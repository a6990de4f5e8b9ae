/* SPDX-License-Identifier: MIT */
/* What numbers are all multiples of. */
#ifndef BASE_DIVISOR_H
#define BASE_DIVISOR_H

#include <stdint.h>

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
