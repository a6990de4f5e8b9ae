/* SPDX-License-Identifier: MIT */
/*
 * A hash map from 64-bit keys to 32-bit values: open addressing, linear
 * probing, at most half full.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_MAP_NONE UINT32_MAX /* no such key; never a value */

struct gp_map_slot {
	uint64_t key;
	uint32_t value;
};

/* Zeroed: empty. */
struct gp_map {
	struct gp_map_slot *slots;
	size_t room, count; /* room is 0 or a power of two */
};

uint32_t gp_map_get(const struct gp_map *map, uint64_t key);
/* Adds or replaces a value. */
void gp_map_put(struct gp_map *map, uint64_t key, uint32_t value);
/* Removes a key; returns its value, or GP_MAP_NONE. */
uint32_t gp_map_take(struct gp_map *map, uint64_t key);
void gp_map_release(struct gp_map *map);

static inline uint64_t gp_hash64(uint64_t x)
{
	/* splitmix64's finaliser (Steele, Lea, Flood 2014) */
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

#endif
