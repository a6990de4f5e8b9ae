/* SPDX-License-Identifier: MIT */
/* The sizes that a trial requests. */
#include "sizes.h"

#include "classes.h"
#include "trial.h"

#define KIB UINT64_C(1024)

/* ---- near a limit ---- */

static uint64_t constant(const struct sizes *sizes, struct dice *dice)
{
	static const uint64_t constants[] = {
		512,	  2 * 512,  MIB,      2 * MIB,	10 * MIB,
		12 * MIB, 20 * MIB, 22 * MIB, 32 * MIB, 40 * MIB,
	};
	const struct conf *conf = sizes->conf;
	const uint64_t set[] = {
		conf->large * MIB,
		conf->rounding * MIB,
		(conf->split ? conf->split : 64) * MIB,
		(conf->split + conf->rounding) * MIB,
		(conf->split + conf->large) * MIB,
	};

	if (dice_permille(dice, 500))
		return DICE_PICK(dice, constants);
	return DICE_PICK(dice, set);
}

/* A power of two, or a step of its divisions. */
static uint64_t step(struct dice *dice)
{
	uint64_t power = UINT64_C(1) << dice_between(dice, 9, 29);
	uint64_t divisions = UINT64_C(1) << dice_between(dice, 0, 6);
	uint64_t steps = dice_below(dice, divisions);

	return power + power / divisions * steps;
}

static uint64_t beside(const struct sizes *sizes, struct dice *dice)
{
	static const uint64_t off[] = { 0,   0,	  1,   2,	  511,
					512, 513, MIB, MIB - 512, MIB + 512 };
	uint64_t kind = dice_below(dice, 10), at, by;

	if (kind < 5)
		at = constant(sizes, dice);
	else if (kind < 8)
		at = step(dice);
	else
		at = dice_between(dice, 1, 100) * 2 * MIB;
	by = DICE_PICK(dice, off);
	if (dice_permille(dice, 500))
		return at + by;
	return at > by ? at - by : 1;
}

/* ---- ordinary sizes ---- */

struct range {
	unsigned permille; /* up to this value */
	uint64_t low, high;
};

static uint64_t ordinary(const struct sizes *sizes, struct dice *dice)
{
	static const struct range ranges[] = {
		{ 300, 1, 4 * KIB },
		{ 500, 4 * KIB + 1, MIB },
		{ 620, MIB + 1, 10 * MIB },
		{ 780, 10 * MIB, 40 * MIB },
	};
	uint64_t at = dice_below(dice, 1000);

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (at < ranges[i].permille)
			return dice_between(dice, ranges[i].low,
					    ranges[i].high);
	if (at < 880)
		return dice_between(dice, 1, 64) * MIB;
	if (at < 940)
		return beside(sizes, dice);
	if (at < 999)
		return dice_between(dice, 30 * MIB, sizes->most);
	return dice_permille(dice, 300) ? 0 : sizes->absurd;
}

static void keep(struct sizes *sizes, struct dice *dice, uint64_t size)
{
	if (sizes->count < SIZES_KEPT)
		sizes->kept[sizes->count++] = size;
	else
		sizes->kept[dice_below(dice, SIZES_KEPT)] = size;
}

uint64_t sizes_throw(struct sizes *sizes, struct dice *dice)
{
	uint64_t size;

	if (sizes->count && dice_permille(dice, 430))
		return sizes->kept[dice_below(dice, sizes->count)];
	if (sizes->is_beside && dice_permille(dice, 600))
		size = beside(sizes, dice);
	else
		size = ordinary(sizes, dice);
	keep(sizes, dice, size);
	return size;
}
