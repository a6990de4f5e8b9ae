/* SPDX-License-Identifier: MIT */
/*
 * Where the program read a value back that nothing has computed: a limit of a
 * device without one, which the program's user should know of.
 */
#ifndef SIMCUDA_PROGRAM_GUESSES_H
#define SIMCUDA_PROGRAM_GUESSES_H

#include <stdint.h>

/* Listens from here on. */
void guesses_watch(void);

/* In the order they were first met: the index-th place, "train.py:12", or NULL;
 * how often. */
const char *guesses_at(uint32_t index, uint64_t *reads);

#endif
