/* SPDX-License-Identifier: MIT */
/* What a frame of a stack is: whose, and what it says. */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stdbool.h>
#include <stddef.h>

enum frame_kind {
	FRAME_UNKNOWN,	/* not yet asked */
	FRAME_MACHINE,	/* interpreter, allocator, unwinder, recorder */
	FRAME_OTHER,	/* nothing is known of it */
	FRAME_TORCH,	/* PyTorch's C++, of no use but to tell stacks apart */
	FRAME_PART,	/* of a node of the backward pass */
	FRAME_NATIVE,	/* an operator's kernel */
	FRAME_OP,	/* an operator */
	FRAME_NODE,	/* a node of the backward pass */
	FRAME_LIBRARY,	/* Python of PyTorch or of an installed package */
	FRAME_COMPILED, /* C++ of the program or of an extension */
	FRAME_PROGRAM,	/* Python of the program */
};
enum frame_kind frame_kind_of(const char *text);

/* "folder/file.py:42 function", or a profiler's "folder/file.py(42): function".
 */
struct frame_place {
	size_t file; /* length */
	const char *line;
	size_t digits;
	const char *function; /* "": none */
};
bool frame_place(const char *text, struct frame_place *place);
bool frame_is_python(const char *text, const struct frame_place *place);

/* Up to the arguments: "at::(anonymous namespace)::f(int)" without "(int)". */
size_t frame_name_length(const char *text);
/* Letters, digits and underscores. */
size_t frame_word_length(const char *text);

/* What names of operators and of nodes begin with. */
#define FRAME_EVALUATES "autograd::engine::evaluate_function: "
#define FRAME_GENERATED "torch::autograd::generated::"
#define FRAME_OPERATORS "at::_ops::"
#define FRAME_KERNELS	"at::native::"
#define FRAME_GRADIENT	"torch::autograd::AccumulateGrad::apply"

#endif
