/* SPDX-License-Identifier: MIT */
/* Where a trace lives: an arena, its texts, and the file it is mapped from. */
#include "trace/store.h"

#include <stdlib.h>

#include "base/mem.h"

struct gp_trace_store *gp_trace_store_create(void)
{
	struct gp_trace_store *store = gp_mem_alloc(1, sizeof(*store));

	store->trace.memory = store;
	return store;
}

struct gp_trace_store *gp_trace_store_derive(const struct gp_trace *trace,
					     struct gp_device_trace **devices)
{
	struct gp_trace_store *store = gp_trace_store_create();
	size_t count = trace->device_count;

	*devices = gp_arena_alloc(&store->arena, count, sizeof(**devices));
	for (size_t i = 0; i < count; i++)
		(*devices)[i] = trace->devices[i];
	store->trace = *trace;
	store->trace.memory = store;
	store->trace.devices = *devices;
	return store;
}

const uint32_t *gp_trace_store_owners(struct gp_arena *arena,
				      const struct gp_device_trace *from,
				      const uint32_t *numbers, uint32_t count)
{
	uint32_t *owners;

	if (!from->owners)
		return NULL;
	owners = gp_arena_alloc(arena, count, sizeof(*owners));
	for (uint32_t i = 0; i < count; i++)
		owners[i] = GP_NO_OWNER;
	for (uint32_t i = 0; i < from->block_ids; i++)
		if (numbers[i] != GP_NO_ID)
			owners[numbers[i]] = from->owners[i];
	return owners;
}

struct gp_trace *gp_trace_share(struct gp_trace *trace)
{
	struct gp_trace_store *store = trace->memory;

	atomic_fetch_add(&store->shares, 1);
	return trace;
}

void gp_trace_destroy(struct gp_trace *trace)
{
	struct gp_trace_store *store;

	if (!trace)
		return;
	store = trace->memory;
	if (atomic_fetch_sub(&store->shares, 1))
		return;
	gp_arena_release(&store->arena);
	gp_intern_release(&store->texts);
	free(store);
}
