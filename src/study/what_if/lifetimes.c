/* SPDX-License-Identifier: MIT */
/* The lifetime of each block of a draft. */
#include "study/what_if/lifetimes.h"

#include "base/mem.h"

static uint32_t pools_in_use(const struct gp_event *event, uint32_t in_use)
{
	switch (event->kind) {
	case GP_POOL_BEGIN:
	case GP_CAPTURE_BEGIN: return in_use + 1;
	case GP_POOL_END:
	case GP_CAPTURE_END: return in_use - (in_use > 0);
	default: return in_use;
	}
}

struct lifetime *lifetimes_of(const struct gp_draft_device *device)
{
	struct lifetime *lifetimes =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*lifetimes));
	uint32_t in_use = 0;

	for (uint32_t id = 0; id < device->block_ids; id++)
		lifetimes[id] = (struct lifetime){
			.born = LIFETIME_FROM_START,
			.freed = LIFETIME_NO_END,
			.is_plain = true,
		};
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID)
			lifetimes[device->blocks[i].id].size =
				device->blocks[i].requested;
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		struct lifetime *lifetime;

		in_use = pools_in_use(event, in_use);
		if (!gp_draft_has_block(event))
			continue;
		lifetime = &lifetimes[event->id];
		if (event->kind == GP_ALLOC) {
			lifetime->born = i;
			lifetime->size = event->size;
			lifetime->is_private = event->pool || in_use;
		} else if (event->kind == GP_FREE) {
			lifetime->freed = i;
		} else {
			lifetime->is_plain = false;
		}
	}
	return lifetimes;
}
