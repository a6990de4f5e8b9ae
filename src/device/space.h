/* SPDX-License-Identifier: MIT */
/*
 * An address space, allocated first fit upward in units of GP_DEVICE_GRAIN.
 */
#ifndef DEVICE_SPACE_H
#define DEVICE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With base set and the rest zeroed, everything is free. */
struct space {
	uint64_t base;
	uint64_t end; /* in units; everything from there on is free */
	/* The free ranges below end: a tree of indices, 0 meaning none. */
	struct gap *gaps;
	size_t gap_count, gap_room;
	uint32_t root, spare;
};

/* Allocates an address range; size is rounded up to whole units. */
uint64_t space_take(struct space *space, uint64_t size);
void space_give(struct space *space, uint64_t addr, uint64_t size);
/* Frees part of a range; it is not merged with free space beyond the range. */
void space_give_within(struct space *space, uint64_t addr, uint64_t size,
		       uint64_t range, uint64_t length);
/* False if some of it is allocated, or outside this space. */
bool space_is_free(const struct space *space, uint64_t addr, uint64_t size);
/* False if all of it is free, or if some of it is outside this space. */
bool space_is_taken(const struct space *space, uint64_t addr, uint64_t size);
/* Marks an address range as allocated; any part of it outside this space is
 * ignored. */
void space_adopt(struct space *space, uint64_t addr, uint64_t size);
struct space space_copy(const struct space *space);
void space_release(struct space *space);

#endif
