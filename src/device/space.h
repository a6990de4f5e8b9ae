/* SPDX-License-Identifier: MIT */
/*
 * A range of addresses, handed out first fit upward in units of
 * GP_DEVICE_GRAIN.
 */
#ifndef DEVICE_SPACE_H
#define DEVICE_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* With base set, the rest zeroed, nothing is taken. */
struct space {
	uint64_t base;
	uint64_t end; /* units: all from there on are free */
	/* Free ranges below: a tree of indices, 0 being none. */
	struct gap *gaps;
	size_t gap_count, gap_room;
	uint32_t root, spare;
};

/* size is rounded up to whole units. */
uint64_t space_take(struct space *space, uint64_t size);
void space_give(struct space *space, uint64_t addr, uint64_t size);
/* Part of a range that nothing is taken across the ends of. */
void space_give_within(struct space *space, uint64_t addr, uint64_t size,
		       uint64_t range, uint64_t length);
/* Marks what lies in the range as taken; the rest is not this space's. */
void space_adopt(struct space *space, uint64_t addr, uint64_t size);
void space_release(struct space *space);

#endif
