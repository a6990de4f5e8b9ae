/* SPDX-License-Identifier: MIT */
/*
 * Whether the memory that is handed out stays its owner's: a pattern is written
 * into each block and read before it is freed.
 */
#ifndef REPLAY_MEMORY_CHECK_H
#define REPLAY_MEMORY_CHECK_H

#include "gpupool/replay.h"

struct memory_check {
	struct gp_device *device;
	struct checked_block *blocks; /* by id; NULL: nothing is checked */
	uint32_t block_ids;
	struct gp_memory_check *result;
};

/* Nothing for devices that have no memory. */
void memory_check_init(struct memory_check *check, struct gp_device *device,
		       uint32_t block_ids, struct gp_memory_check *result);
void memory_check_write(struct memory_check *check, uint32_t id, uint64_t addr,
			uint64_t size, uint64_t event);
/* GP_NO_ID and blocks that were not written: nothing. */
void memory_check_read(struct memory_check *check, uint32_t id, uint64_t event);
/* Reads what is still live, too. */
void memory_check_end(struct memory_check *check, uint64_t event);

#endif
