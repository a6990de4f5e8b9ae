/* SPDX-License-Identifier: MIT */
/* Whether the memory that is handed out stays its owner's. */
#include "replay/memory_check.h"

#include <stdlib.h>

#include "base/mem.h"

struct checked_block {
	uint64_t addr, size; /* size 0: not written */
	uint64_t event;	     /* the request's: its pattern's seed */
};

void memory_check_init(struct memory_check *check, struct gp_device *device,
		       uint32_t block_ids, struct gp_memory_check *result)
{
	*check = (struct memory_check){ .device = device,
					.block_ids = block_ids,
					.result = result };
	if (device->ops->fill && device->ops->check)
		check->blocks = gp_mem_alloc((size_t)block_ids + 1,
					     sizeof(*check->blocks));
}

void memory_check_write(struct memory_check *check, uint32_t id, uint64_t addr,
			uint64_t size, uint64_t event)
{
	if (!size || !addr)
		return;
	check->blocks[id] = (struct checked_block){ addr, size, event };
	check->device->ops->fill(check->device, addr, size, event);
}

void memory_check_read(struct memory_check *check, uint32_t id, uint64_t event)
{
	struct gp_memory_check *result = check->result;
	struct checked_block *block = &check->blocks[id];
	struct gp_device *device = check->device;

	if (!block->size)
		return;
	result->blocks++;
	result->bytes += block->size;
	if (!device->ops->check(device, block->addr, block->size,
				block->event) &&
	    !result->changed++) {
		result->first_event = block->event;
		result->first_seen = event;
		result->first_size = block->size;
	}
	block->size = 0;
}

void memory_check_end(struct memory_check *check, uint64_t event)
{
	for (uint32_t id = 0; check->blocks && id < check->block_ids; id++)
		memory_check_read(check, id, event);
	free(check->blocks);
	check->blocks = NULL;
}
