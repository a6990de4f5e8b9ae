/* SPDX-License-Identifier: MIT */
/*
 * --values: how much of what operators write is computed, and whether what
 * nobody knows is drawn: seeded noise in its place.
 */
#ifndef SIMCUDA_PROGRAM_DRAWS_H
#define SIMCUDA_PROGRAM_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draws_policy {
	bool follows; /* what operators write is followed */
	bool draws;   /* what nobody knows of it is drawn */
	/* The most bytes of an operator's arguments for which it is computed:
	 * of all; of floating-point numbers, where values are drawn or it is
	 * costly; and of all where its result is integers or truths, which
	 * programs go by, and nobody knows them. */
	uint64_t most, most_real, most_decisive;
};

/* "known", "drawn:SEED", "all", or "0": nothing is followed; NULL is "known".
 * Before anything is kept. */
void draws_choose(const char *values);
const struct draws_policy *draws_policy(void);

/* Elements of a c10::ScalarType.  The same program has the same draws. */
void draws_fill(int dtype, uint64_t count, void *to);
/* One that a program reads alone, as a loss or a norm is: not below 0. */
void draws_fill_scalar(int dtype, void *to);

/* Where a thread draws. */
struct draws_place {
	uint64_t of; /* 0: in no such part */
	uint32_t taken;
};
/* An operator, by a number of its name, begins; and ends, where the thread
 * draws as before it. */
void draws_begin(uint64_t operator);
void draws_end(struct draws_place before);
struct draws_place *draws_place(void);

/* Another number each time, for who draws elsewhere for that place. */
uint64_t draws_seed(struct draws_place *place);

#endif
