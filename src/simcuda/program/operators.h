/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's operators as they begin and end in each thread: what they write is
 * computed from what is known, or known no more.
 */
#ifndef SIMCUDA_PROGRAM_OPERATORS_H
#define SIMCUDA_PROGRAM_OPERATORS_H

#include <stdbool.h>

/* Once, with the right to run Python; release: 2.x; scalar: what is read in
 * place of one that nobody knows, or NULL.  False: this release's
 * operators are not known, and whatever a kernel may have written is not. */
bool operators_watch(unsigned release, const char *scalar);
/* Where they are not watched: no value is known after a kernel. */
void operators_doubt(void);

#endif
