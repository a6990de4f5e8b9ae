/* SPDX-License-Identifier: MIT */
/*
 * The option --values: how much of what operators write is computed, and
 * whether unknown values are drawn, that is, replaced by seeded noise.
 */
#ifndef SIMCUDA_PROGRAM_DRAWS_H
#define SIMCUDA_PROGRAM_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draws_policy {
	bool follows; /* what operators write is computed */
	bool draws;   /* unknown values are drawn */
	/* The most bytes of arguments for which an operator is computed: in
	 * general; if they are floating-point and values are drawn or it is
	 * costly; and if its result is integers or truths that are not known
	 * and on which programs depend. */
	uint64_t most, most_real, most_decisive;
};

/* "known", "drawn:SEED", "all", or "0": nothing is computed; NULL is "known".
 * rank: a number, or NULL. To be called before anything is kept. */
void draws_choose(const char *values, const char *rank);
const struct draws_policy *draws_policy(void);

/* Draws elements of a c10::ScalarType. The draws of a program are the same in
 * each run. */
void draws_fill(int dtype, uint64_t count, void *to);
/* Draws a value that a program reads alone, such as a loss or a norm: not
 * negative. */
void draws_fill_scalar(int dtype, void *to);
/* A read returns this number, as the option --scalar says. */
void draws_say(const char *number, int dtype, void *to);

/* The place in the program at which a thread draws. */
struct draws_place {
	uint64_t of; /* 0: outside of any part (scripts.h) */
	uint32_t taken;
};
/* An operator begins, identified by a hash of its name; and ends, when the
 * thread returns to its previous place. */
void draws_begin(uint64_t operator);
void draws_end(struct draws_place before);
struct draws_place *draws_place(void);

/* A different seed with each call, for draws that are made elsewhere. */
uint64_t draws_seed(struct draws_place *place);

#endif
