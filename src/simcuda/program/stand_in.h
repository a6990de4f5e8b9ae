/* SPDX-License-Identifier: MIT */
/*
 * Calls that nothing here knows: libraries that gpupool record writes (src/
 * record) lead every symbol that PyTorch's libraries want of CUDA's, and that
 * is not defined here, to one function, which answers success.
 */
#ifndef SIMCUDA_PROGRAM_STAND_IN_H
#define SIMCUDA_PROGRAM_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* The call's first argument, and from the third on the others; the second gave
 * way to its name, which is the same pointer each time. */
uint64_t simcuda_stand_in(void **first, const char *name, void *third,
			  void *fourth, void *fifth, void *sixth, ...);

/* A size that only the real library knows was told as 0 by this call. */
void stand_in_size(const char *name);
/* One was told as it was measured on an H100 or H200. */
void stand_in_measured(const char *name);
/* Calls that, when the first size of a name was told so; outside locks. */
void stand_in_watch(void (*notify)(void));

/* What the program's user should know of: sizes told as 0 or as measured, and
 * calls whose answers nobody gave.  Those that compute or set something, and so
 * may well do nothing, are left out. */
enum stand_in_kind { STAND_IN_SIZE, STAND_IN_MEASURED, STAND_IN_ANSWER };

/* In the order they were first made: the index-th name, or NULL; how often. */
const char *stand_in_called(uint32_t index, enum stand_in_kind *kind,
			    uint64_t *calls);

/* Whether the call only computes or sets something. */
bool stand_in_does_nothing(const char *name);

#endif
