/* SPDX-License-Identifier: MIT */
/*
 * Random numbers from a seed: the same on every machine.
 * SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct gp_rng {
	uint64_t state; /* the seed, at first */
};

static inline uint64_t gp_rng_next(struct gp_rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 <= result < bound; the bias is below 2^-32 for bounds below 2^32. */
static inline uint64_t gp_rng_below(struct gp_rng *rng, uint64_t bound)
{
	return gp_rng_next(rng) % bound;
}

/* least <= result <= most */
static inline uint64_t gp_rng_between(struct gp_rng *rng, uint64_t least,
				      uint64_t most)
{
	return least + gp_rng_below(rng, most - least + 1);
}

#endif
