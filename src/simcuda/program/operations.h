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

#endif
