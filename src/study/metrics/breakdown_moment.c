/* SPDX-License-Identifier: MIT */
/* The moment at which a program holds the most memory, independent of its
 * allocator. */
#include <stdlib.h>

#include "base/mem.h"
#include "study/metrics/change.h"

struct held {
	uint64_t *sizes; /* by id, as requested; 0: not live */
	uint64_t now, most;
	uint64_t event; /* first event with the most */
};

static void hold(struct held *held, uint32_t id, uint64_t size)
{
	held->now += size - held->sizes[id];
	held->sizes[id] = size;
}

static void hold_start(struct held *held, const struct gp_state *start)
{
	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_ACTIVE &&
		    start->blocks[i].id != GP_NO_ID)
			hold(held, start->blocks[i].id,
			     start->blocks[i].requested);
}

static bool is_held(const struct gp_event *event, enum gp_refusals refusals)
{
	return refusals == GP_REFUSALS_COUNT || !(event->flags & GP_REFUSED);
}

uint64_t gp_breakdown_moment(const struct gp_trace *trace, uint32_t device,
			     enum gp_refusals refusals)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct held held = {
		.sizes = gp_mem_alloc(t->block_ids + (size_t)1,
				      sizeof(*held.sizes)),
		.event = GP_AT_FULLEST,
	};

	hold_start(&held, &t->start);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC && is_held(event, refusals))
			hold(&held, event->id, event->size);
		else if (event->kind == GP_FREE)
			hold(&held, event->id, 0);
		if (held.now <= held.most && held.event != GP_AT_FULLEST)
			continue;
		held.most = held.now;
		held.event = i;
	}
	free(held.sizes);
	return held.event;
}
