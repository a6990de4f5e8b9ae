/* SPDX-License-Identifier: MIT */
/*
 * Where the program read a value back that nobody knows: what it did from there
 * on may not be what it does on a GPU.  The journal has it as it happens, so
 * that it is told whatever way the program ends.
 */
#ifndef SIMCUDA_PROGRAM_GUESSES_H
#define SIMCUDA_PROGRAM_GUESSES_H

#include <stdbool.h>

/* Listens from here on; quiet: many at one line are not told as they happen. */
void guesses_watch(bool is_quiet);

/* What is known of values here, or that nothing is; told to the journal. */
void guesses_begin(bool are_followed);
void guesses_end(void);

#endif
