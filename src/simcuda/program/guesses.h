/* SPDX-License-Identifier: MIT */
/*
 * The places at which the program read an unknown value: from there on it may
 * do something else than on a GPU. They are written to the journal as they
 * occur, so that they are reported however the program ends.
 */
#ifndef SIMCUDA_PROGRAM_GUESSES_H
#define SIMCUDA_PROGRAM_GUESSES_H

#include <stdbool.h>

/* Starts listening. is_quiet: many reads at one line are not reported at once.
 */
void guesses_watch(bool is_quiet);

/* Writes to the journal whether values are known, or are not followed at all.
 */
void guesses_begin(bool are_followed);
void guesses_end(void);

/* Threads take memory at the same time. No lock may be held. */
void guesses_add_race(void);

/* An assertion of this operator's kernel fails. */
void guesses_add_assertion(const char *operator);

#endif
