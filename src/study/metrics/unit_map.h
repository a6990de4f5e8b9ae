/* SPDX-License-Identifier: MIT */
/* Segments, and pages of expandable ones, by address; each with the free bytes
 * in it and the sum of what each of its holders pins. */
#ifndef STUDY_METRICS_UNIT_MAP_H
#define STUDY_METRICS_UNIT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct unit {
	uint64_t addr, size, free; /* bytes */
	uint64_t holders;
	double pinned;	/* by each holder so far: bytes x events */
	uint64_t since; /* event up to which that is */
};

struct unit_map {
	struct unit *units; /* by address */
	size_t count, room;
};

void unit_map_add(struct unit_map *map, uint64_t addr, uint64_t size,
		  uint64_t event);
/* All that begin in the range. */
void unit_map_remove(struct unit_map *map, uint64_t addr, uint64_t size);
/* The one that an address lies in; NULL: none. */
struct unit *unit_map_find(struct unit_map *map, uint64_t addr);

/* pinned, brought up to the event. */
double unit_pinned(struct unit *unit, uint64_t event);

/* A block comes; it waits; it is gone. */
void unit_map_take(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event);
void unit_map_let_go(struct unit_map *map, uint64_t addr, uint64_t size,
		     uint64_t event);
void unit_map_give(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event);

#endif
