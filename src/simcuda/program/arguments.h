/* SPDX-License-Identifier: MIT */
/*
 * The arguments of one call of an operator, as far as all are known, and what
 * it gives: copies, which stay when the operator has run.
 */
#ifndef SIMCUDA_PROGRAM_ARGUMENTS_H
#define SIMCUDA_PROGRAM_ARGUMENTS_H

#include "simcuda/program/tensors.h"

struct argument {
	enum {
		ARGUMENT_NONE,
		ARGUMENT_INT,
		ARGUMENT_REAL,
		ARGUMENT_BOOL,
		ARGUMENT_TEXT,
		ARGUMENT_DEVICE,
		ARGUMENT_LIST,
		ARGUMENT_TENSOR,
	} kind;
	union {
		int64_t number;
		double real;
		const char *text;
	};
	const struct argument *items; /* of a list */
	size_t count;
	struct shape shape;	    /* of a tensor */
	const unsigned char *bytes; /* its elements in order; NULL: not read */
};

/* Memory that is released at once. */
struct arena {
	struct arena_piece *first;
};
void *arena_take(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/* NULL: some value is not known, or is of a kind that is not read.  Arguments
 * in the bits of unread are not looked into. */
const struct argument *arguments_read(struct torch_values values,
				      uint32_t unread, struct arena *arena);

/* Elements in their order go to where the tensor has them, and are known; NULL:
 * what was known of them is not. */
void arguments_write(const struct shape *shape, const unsigned char *bytes);

#endif
