/* SPDX-License-Identifier: MIT */
#include "simcuda/program/operations.h"

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

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

/* Called with a stack, as torch.func does, the record has other values of the
 * stack before the operator's own. */
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
