/* SPDX-License-Identifier: MIT */
/*
 * What the device's kernels assert: that an index is within its range, that a
 * probability is one. Where that fails, the device computes nothing from there
 * on, and CUDA says so when the program next waits for it.
 */
#ifndef SIMCUDA_PROGRAM_ASSERTS_H
#define SIMCUDA_PROGRAM_ASSERTS_H

#include "simcuda/program/operations.h"

/* The arguments of the operator, which begins; NULL: its kernel asserts nothing
 * that can be told. */
const struct argument *asserts_read(const struct operation *operation,
				    struct torch_values inputs,
				    struct arena *arena);

/* To be called once the kernel was launched. */
void asserts_check(const struct operation *operation,
		   const struct argument *arguments, struct arena *arena);

#endif
