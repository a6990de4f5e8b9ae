/* SPDX-License-Identifier: MIT */
/*
 * Follows PyTorch's operators in each thread: what they write is computed if
 * their arguments are known, and is not known otherwise.
 */
#ifndef SIMCUDA_PROGRAM_OPERATORS_H
#define SIMCUDA_PROGRAM_OPERATORS_H

#include <stdbool.h>

/* To be called once, holding the GIL. release: 2.x; scalar: what an unknown
 * scalar reads as, or NULL. false: the operators of this release cannot be
 * followed, and nothing that a kernel may have written counts as known. */
bool operators_watch(unsigned release, const char *scalar);
/* If operators are not followed: no value is known after a kernel. */
void operators_doubt(void);

#endif
