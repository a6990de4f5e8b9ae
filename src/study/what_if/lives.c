/* SPDX-License-Identifier: MIT */
/* When each block of a draft lives. */
#include "study/what_if/lives.h"

#include "base/mem.h"

struct life *lives_of(const struct gp_draft_device *device)
{
	struct life *lives =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*lives));

	for (uint32_t id = 0; id < device->block_ids; id++)
		lives[id] =
			(struct life){ LIFE_FROM_START, LIFE_NO_END, 0, true };
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID)
			lives[device->blocks[i].id].size =
				device->blocks[i].requested;
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		struct life *life;

		if (!gp_draft_has_block(event))
			continue;
		life = &lives[event->id];
		if (event->kind == GP_ALLOC) {
			life->born = i;
			life->size = event->size;
		} else if (event->kind == GP_FREE) {
			life->freed = i;
		} else {
			life->is_plain = false;
		}
	}
	return lives;
}
