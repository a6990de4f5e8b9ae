/* SPDX-License-Identifier: MIT */
/*
 * Calls that are not implemented. Libraries written by gpupool record
 * (src/record) lead every symbol that PyTorch's libraries import from CUDA's,
 * and that is not defined here, to one function, which answers success.
 */
#ifndef SIMCUDA_PROGRAM_STAND_IN_H
#define SIMCUDA_PROGRAM_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* Gets the call's first argument and those from the third on; the second is
 * replaced by the name, which is the same pointer each time. */
uint64_t simcuda_stand_in(void **first, const char *name, void *third,
			  void *fourth, void *fifth, void *sixth, ...);

/* This call reported a size as 0 that only the real library knows. */
void stand_in_size(const char *name);
/* This call reported a size as measured on an H100 or H200. */
void stand_in_measured(const char *name);
/* `notify` is called when a name first reports a size; without locks. */
void stand_in_watch(void (*notify)(void));

/* What is reported to the user: sizes given as 0 or as measured, and calls
 * whose answer is missing. Calls that only compute or set something, and so may
 * do nothing, are left out. */
enum stand_in_kind { STAND_IN_SIZE, STAND_IN_MEASURED, STAND_IN_ANSWER };

/* In the order of their first call: the index-th name, or NULL; and how often
 * it was called. */
const char *stand_in_called(uint32_t index, enum stand_in_kind *kind,
			    uint64_t *calls);

/* Whether the call only computes or sets something. */
bool stand_in_does_nothing(const char *name);

#endif
