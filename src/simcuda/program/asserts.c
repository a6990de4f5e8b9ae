/* SPDX-License-Identifier: MIT */
#include "simcuda/program/asserts.h"

#include <string.h>

#include "simcuda/process.h"
#include "simcuda/program/guesses.h"

static bool is_any_read(const struct argument *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct argument *a = &arguments[i];

		if (a->kind == ARGUMENT_LIST
			    ? is_any_read(a->items, a->count)
			    : a->kind == ARGUMENT_TENSOR && a->bytes)
			return true;
	}
	return false;
}

const struct argument *asserts_read(const struct operation *operation,
				    struct torch_values inputs,
				    struct arena *arena)
{
	uint32_t about = operation->facts.asserted;
	struct arguments_wish wish = {
		.of = { .unread = ~about, .if_known = about },
		.arena = arena,
	};
	const struct argument *all;
	bool is_drawn;

	if (!about)
		return NULL;
	all = arguments_read(inputs, &wish, &is_drawn);
	return all && is_any_read(all, inputs.count) ? all : NULL;
}

void asserts_check(const struct operation *operation,
		   const struct argument *arguments, struct arena *arena)
{
	struct evaluation e = { .name = &operation->name,
				.arguments = arguments,
				.argument_count = operation->facts.arguments,
				.arena = arena };

	if (!evaluate_fails(&e))
		return;
	process_fail(cudaErrorAssert);
	/* "aten::gather" */
	guesses_add_assertion(strrchr(operation->name.name, ':') + 1);
}
