/* SPDX-License-Identifier: MIT */
/* Units, that is, segments and pages of expandable segments, by address; each
 * with its free bytes and the sum of what each of its holders pins. */
#ifndef STUDY_METRICS_UNIT_MAP_H
#define STUDY_METRICS_UNIT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct unit {
	uint64_t addr, size, free; /* bytes */
	uint64_t holders;
	double pinned;	/* pinned per holder so far, in bytes x events */
	uint64_t since; /* event up to which pinned is computed */
};

struct unit_map {
	struct unit *units; /* sorted by address */
	size_t count, room;
};

void unit_map_add(struct unit_map *map, uint64_t addr, uint64_t size,
		  uint64_t event);
/* Removes all units that begin in the range. */
void unit_map_remove(struct unit_map *map, uint64_t addr, uint64_t size);
/* The unit that contains an address; NULL: none. */
struct unit *unit_map_find(struct unit_map *map, uint64_t addr);

/* Updates `pinned` to the event and returns it. */
double unit_pinned(struct unit *unit, uint64_t event);

/* A block is allocated; its free becomes pending; it is freed. */
void unit_map_alloc(struct unit_map *map, uint64_t addr, uint64_t size,
		    uint64_t event);
void unit_map_pend(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event);
void unit_map_free(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event);

#endif
