/* SPDX-License-Identifier: MIT */
/* Counters and memory at the end of a trial. */
#ifndef CONFORM_FIGURES_H
#define CONFORM_FIGURES_H

#include "outcome.h"

/*
 * Whether they differ, and in which number. If an order that PyTorch leaves
 * open differs, the history of inactive_split may differ too.
 */
bool figures_differ(const struct outcome *ours, const struct outcome *theirs,
		    bool is_strict, char *what, size_t room);

/* Calls back with each number that a release reports, always in the same
 * order. */
void figures_counters(const struct outcome *outcome,
		      void (*number)(void *arg, uint64_t number), void *arg);
void figures_state(const struct outcome *outcome,
		   void (*number)(void *arg, uint64_t number), void *arg);

#endif
