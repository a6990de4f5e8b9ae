/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's operators; each is described when it is first called.
 */
#ifndef SIMCUDA_PROGRAM_OPERATIONS_H
#define SIMCUDA_PROGRAM_OPERATIONS_H

#include "simcuda/program/evaluate.h"

struct operation {
	struct operator_name name;
	struct operator_facts facts;
	uint64_t number; /* a hash of its name, the same in every run */
	bool is_known;
};

/* By its schema, a c10::FunctionSchema that is never moved. */
const struct operation *operation_of(const char *schema);

/* The inputs and outputs of a call, an at::RecordFunction. */
struct torch_values operation_inputs(const struct operation *operation,
				     const char *record);
struct torch_values operation_outputs(const struct operation *operation,
				      const char *record);

/*
 * What the device's kernels assert, for example that an index is within its
 * range, or that a probability is valid. If an assertion fails, the device
 * computes nothing from there on, and CUDA reports this when the program next
 * waits for the device.
 */

/* The arguments of the operator that begins; NULL: its kernel asserts nothing
 * that can be checked. */
const struct argument *operation_asserted(const struct operation *operation,
					  struct torch_values inputs,
					  struct arena *arena);
/* To be called after the kernel has been launched. */
void operation_check(const struct operation *operation,
		     const struct argument *arguments, struct arena *arena);

#endif
