/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's operators, each described once: when it is first called.
 */
#ifndef SIMCUDA_PROGRAM_OPERATIONS_H
#define SIMCUDA_PROGRAM_OPERATIONS_H

#include "simcuda/program/evaluate.h"

struct operation {
	struct operator_name name;
	struct operator_facts facts;
	uint64_t number; /* of its name, the same in every run */
	bool is_known;
};

/* By its schema, a c10::FunctionSchema, which stays where it is. */
const struct operation *operation_of(const char *schema);

/* Of a call of it, an at::RecordFunction. */
struct torch_values operation_inputs(const struct operation *operation,
				     const char *record);
struct torch_values operation_outputs(const struct operation *operation,
				      const char *record);

#endif
