/* SPDX-License-Identifier: MIT */
#include "simcuda/program/operations.h"

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/process.h"
#include "simcuda/program/guesses.h"

static struct {
	pthread_mutex_t lock;
	struct gp_map by_schema; /* -> index */
	struct operation **items;
	size_t count, room;
} operations = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct operation *known(const char *schema)
{
	const struct operation *found = NULL;
	uint32_t index;

	pthread_mutex_lock(&operations.lock);
	index = gp_map_get(&operations.by_schema, (uintptr_t)schema);
	if (index != GP_MAP_NONE)
		found = operations.items[index];
	pthread_mutex_unlock(&operations.lock);
	return found;
}

static uint64_t number_of(const char *name)
{
	uint64_t number = 0;

	for (; *name; name++)
		number = gp_hash64(number + (unsigned char)*name);
	return number;
}

const struct operation *operation_of(const char *schema)
{
	const struct operation *found = known(schema);
	struct operation *new;

	if (found)
		return found;
	new = gp_mem_alloc(1, sizeof(*new));
	new->name.name = gp_mem_copy_text(tensors_name(schema),
					  strlen(tensors_name(schema)));
	new->name.overload = gp_mem_copy_text(tensors_overload(schema),
					      strlen(tensors_overload(schema)));
	new->number = number_of(new->name.name);
	new->is_known = evaluate_describe(&new->name, &new->facts);
	if (!new->is_known)
		new->facts.writes_any = true;
	pthread_mutex_lock(&operations.lock);
	GP_GROW(operations.items, operations.count + 1, operations.room);
	gp_map_put(&operations.by_schema, (uintptr_t)schema,
		   (uint32_t)operations.count);
	operations.items[operations.count++] = new;
	pthread_mutex_unlock(&operations.lock);
	return new;
}

/* If the operator was called with a stack, as torch.func does, the record has
 * other values of the stack before the operator's own. */
static struct torch_values last(struct torch_values values, size_t count)
{
	if (values.count > count) {
		values.items += values.count - count;
		values.count = count;
	}
	return values;
}

struct torch_values operation_inputs(const struct operation *operation,
				     const char *record)
{
	struct torch_values inputs = tensors_inputs(record);

	return operation->is_known ? last(inputs, operation->facts.arguments)
				   : inputs;
}

struct torch_values operation_outputs(const struct operation *operation,
				      const char *record)
{
	struct torch_values outputs = tensors_outputs(record);

	return operation->is_known ? last(outputs, operation->facts.returns)
				   : outputs;
}

/* ---- what kernels assert ---- */

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

const struct argument *operation_asserted(const struct operation *operation,
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

void operation_check(const struct operation *operation,
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
