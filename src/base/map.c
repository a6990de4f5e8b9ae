/* SPDX-License-Identifier: MIT */
/* A hash map with open addressing; a removal closes the gap that it leaves. */
#include "base/map.h"

#include <stdlib.h>

#include "base/mem.h"

/* Where the slots lie is not known to who writes a file, so that no file can
 * have keys that all begin their search at one slot. No result depends on it.
 */
static size_t home(const struct gp_map *map, uint64_t key)
{
	return gp_hash64(key ^ (uintptr_t)map->slots) & (map->room - 1);
}

static size_t find(const struct gp_map *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->slots[i].value != GP_MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & (map->room - 1);
	return i;
}

static void grow(struct gp_map *map)
{
	struct gp_map old = *map;
	size_t i;

	map->room = old.room ? old.room * 2 : 16;
	map->slots = gp_mem_alloc(map->room, sizeof(*map->slots));
	for (i = 0; i < map->room; i++)
		map->slots[i].value = GP_MAP_NONE;
	for (i = 0; i < old.room; i++)
		if (old.slots[i].value != GP_MAP_NONE)
			map->slots[find(map, old.slots[i].key)] = old.slots[i];
	free(old.slots);
}

uint32_t gp_map_get(const struct gp_map *map, uint64_t key)
{
	return map->room ? map->slots[find(map, key)].value : GP_MAP_NONE;
}

void gp_map_put(struct gp_map *map, uint64_t key, uint32_t value)
{
	size_t i;

	if (map->count >= map->room / 2)
		grow(map);
	i = find(map, key);
	if (map->slots[i].value == GP_MAP_NONE)
		map->count++;
	map->slots[i] = (struct gp_map_slot){ key, value };
}

uint32_t gp_map_take(struct gp_map *map, uint64_t key)
{
	size_t hole, i, mask = map->room - 1;
	uint32_t value;

	if (!map->room)
		return GP_MAP_NONE;
	hole = find(map, key);
	value = map->slots[hole].value;
	if (value == GP_MAP_NONE)
		return value;
	map->count--;
	/* Moves entries back that a search would no longer find because of the
	 * hole. */
	for (i = (hole + 1) & mask; map->slots[i].value != GP_MAP_NONE;
	     i = (i + 1) & mask) {
		size_t want = home(map, map->slots[i].key);

		if (((i - want) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = GP_MAP_NONE;
	return value;
}

void gp_map_release(struct gp_map *map)
{
	free(map->slots);
	*map = (struct gp_map){ 0 };
}
