/* SPDX-License-Identifier: MIT */
/* What a program holds at once, whatever its allocator does. */
#include <stdlib.h>

#include "base/mem.h"
#include "gpupool/headroom.h"

struct live {
	uint64_t *sizes; /* by id; 0: not live */
	uint64_t now, most;
};

static void take(struct live *live, uint32_t id, uint64_t size)
{
	live->sizes[id] = size;
	live->now += size;
	if (live->now > live->most)
		live->most = live->now;
}

static void give(struct live *live, uint32_t id)
{
	live->now -= live->sizes[id];
	live->sizes[id] = 0;
}

uint64_t gp_headroom_live(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct live live = {
		.sizes = gp_mem_alloc(t->block_ids + (size_t)1,
				      sizeof(*live.sizes)),
	};

	for (size_t i = 0; i < t->start.block_count; i++)
		if (t->start.blocks[i].state == GP_ACTIVE &&
		    t->start.blocks[i].id != GP_NO_ID)
			take(&live, t->start.blocks[i].id,
			     t->start.blocks[i].requested);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC)
			take(&live, event->id, event->size);
		else if (event->kind == GP_FREE)
			give(&live, event->id);
	}
	free(live.sizes);
	return live.most;
}
