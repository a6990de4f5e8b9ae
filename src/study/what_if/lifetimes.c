/* SPDX-License-Identifier: MIT */
/* When each block of a draft lives. */
#include "study/what_if/lifetimes.h"

#include "base/mem.h"

struct lifetime *lifetimes_of(const struct gp_draft_device *device)
{
	struct lifetime *lifetimes =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*lifetimes));

	for (uint32_t id = 0; id < device->block_ids; id++)
		lifetimes[id] = (struct lifetime){ LIFETIME_FROM_START,
						   LIFETIME_NO_END, 0, true };
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID)
			lifetimes[device->blocks[i].id].size =
				device->blocks[i].requested;
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		struct lifetime *lifetime;

		if (!gp_draft_has_block(event))
			continue;
		lifetime = &lifetimes[event->id];
		if (event->kind == GP_ALLOC) {
			lifetime->born = i;
			lifetime->size = event->size;
		} else if (event->kind == GP_FREE) {
			lifetime->freed = i;
		} else {
			lifetime->is_plain = false;
		}
	}
	return lifetimes;
}
