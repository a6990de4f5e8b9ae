/* SPDX-License-Identifier: MIT */
/* What PyTorch says it did, in the trace's terms: ids, indices, kinds. */
#include "allocator/torch/torch.h"

static const uint8_t kinds[TORCH_DID_ACTIONS] = {
	[TORCH_DID_ALLOC] = GP_ALLOC,
	[TORCH_DID_FREE_REQUESTED] = GP_FREE,
	[TORCH_DID_FREE_COMPLETED] = GP_FREE_COMPLETED,
	[TORCH_DID_SEGMENT_ALLOC] = GP_SEGMENT_ALLOC,
	[TORCH_DID_SEGMENT_FREE] = GP_SEGMENT_FREE,
	[TORCH_DID_SEGMENT_MAP] = GP_SEGMENT_MAP,
	[TORCH_DID_SEGMENT_UNMAP] = GP_SEGMENT_UNMAP,
	[TORCH_DID_SNAPSHOT] = GP_SNAPSHOT,
	[TORCH_DID_OOM] = GP_OOM,
};

static uint32_t id_of(struct torch *t, uint32_t action, uint64_t addr)
{
	switch (action) {
	case TORCH_DID_ALLOC:
		gp_map_put(&t->ids, addr, t->id);
		t->pools[t->id] = t->pool;
		return t->id;
	case TORCH_DID_FREE_REQUESTED: return gp_map_get(&t->ids, addr);
	case TORCH_DID_FREE_COMPLETED: return gp_map_take(&t->ids, addr);
	default: return GP_NO_ID;
	}
}

static uint16_t pool_of_segment(struct torch *t, uint32_t action, uint64_t addr)
{
	uint32_t pool;

	if (action == TORCH_DID_SEGMENT_ALLOC ||
	    action == TORCH_DID_SEGMENT_MAP) {
		gp_map_put(&t->segment_pools, addr, t->pool);
		return t->pool;
	}
	if (action == TORCH_DID_OOM)
		return t->pool;
	pool = gp_map_get(&t->segment_pools, addr);
	return pool == GP_MAP_NONE ? 0 : (uint16_t)pool;
}

/* Entries name their pool from 2.12 on; before, it is the one that the request
 * was made for, and a part that is unmapped alone passes for the default's. */
static uint16_t pool_of(struct torch *t, const struct torch_message *m,
			uint32_t id)
{
	if (t->release >= 12)
		return torch_pool_index(t, m->pool);
	return id != GP_NO_ID ? t->pools[id]
			      : pool_of_segment(t, m->what, m->addr);
}

/* What PyTorch asked of a device itself is known by what came of it.  Pages are
 * of 2 MiB or, of large ones, of what divides the range. */
static void count_call(const struct torch *t, const struct torch_message *m)
{
	struct gp_device_calls *calls = &t->config.device->calls;
	uint64_t large = t->config.settings->large_segment_size;
	uint64_t page = m->size % large ? GP_DEVICE_GRAIN : large;

	switch (m->what) {
	case TORCH_DID_SEGMENT_ALLOC: gp_call_malloc(calls, m->size); break;
	case TORCH_DID_SEGMENT_FREE: gp_call_free(calls, m->size); break;
	case TORCH_DID_SEGMENT_MAP: gp_call_map(calls, m->size, page); break;
	case TORCH_DID_SEGMENT_UNMAP:
		gp_call_unmap(calls, m->size, page);
		break;
	case TORCH_DID_OOM: calls->malloc_failed++; break;
	default: break;
	}
}

void deed_tell(struct torch *t, const struct torch_message *m)
{
	struct gp_action action;

	if (m->what >= TORCH_DID_ACTIONS)
		return;
	if (t->config.torch_cuda)
		count_call(t, m);
	else if (m->what == TORCH_DID_SEGMENT_MAP)
		t->config.device->calls.access++;
	action = (struct gp_action){
		.kind = kinds[m->what],
		.stream = torch_stream_index(t, m->stream),
		.id = id_of(t, m->what, m->addr),
		.addr = m->addr,
		.size = m->size,
	};
	action.pool = pool_of(t, m, action.id);
	if (t->config.action)
		t->config.action(t->config.action_arg, &action);
}
