/* SPDX-License-Identifier: MIT */
/* Random numbers: splitmix64 (Steele, Lea and Flood, 2014). */
#include "dice.h"

uint64_t dice_next(struct dice *dice)
{
	uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void dice_init(struct dice *dice, uint64_t seed, const char *name)
{
	dice->state = seed;
	for (; *name; name++)
		dice->state = dice_next(dice) ^ (unsigned char)*name;
}

/* The low bias of a remainder does not matter here. */
uint64_t dice_below(struct dice *dice, uint64_t n)
{
	return dice_next(dice) % n;
}

uint64_t dice_between(struct dice *dice, uint64_t low, uint64_t high)
{
	return low + dice_below(dice, high - low + 1);
}

bool dice_permille(struct dice *dice, unsigned permille)
{
	return dice_below(dice, 1000) < permille;
}
