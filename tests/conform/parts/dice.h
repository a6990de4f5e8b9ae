/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for the generator: splitmix64, so that a seed gives the same
 * case on every machine.
 *
 * The order of calls determines the result, and C leaves the order in which
 * arguments are evaluated open, so an expression must not have two throws.
 */
#ifndef CONFORM_DICE_H
#define CONFORM_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

/* The result depends on both. */
void dice_init(struct dice *dice, uint64_t seed, const char *name);
uint64_t dice_next(struct dice *dice);

/* 0 to n - 1; n is not 0. */
uint64_t dice_below(struct dice *dice, uint64_t n);

/* Both ends are included. */
uint64_t dice_between(struct dice *dice, uint64_t low, uint64_t high);

bool dice_permille(struct dice *dice, unsigned permille);

#define DICE_PICK(dice, array)                                                 \
	((array)[dice_below(dice, sizeof(array) / sizeof(*(array)))])

#endif
