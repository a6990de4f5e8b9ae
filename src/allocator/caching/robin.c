/* SPDX-License-Identifier: MIT */
/*
 * A robin-hood hash map with PyTorch's slot order. These rules were verified by
 * running its releases: table sizes are 0, 4, 8, 16, ...; the table doubles
 * when one more entry would make it more than half full, or when a probe gets
 * max(4, log2 size) slots away from home; overflow slots follow the table, and
 * nothing wraps around; a new entry displaces one that is strictly nearer its
 * own home.
 */
#include "allocator/caching/robin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static unsigned log2_of(size_t size)
{
	return 63 - (unsigned)__builtin_clzll(size);
}

/* The probe limit: how far from its home slot an entry may be. */
static int reach(const struct robin *map)
{
	return map->size < 32 ? 4 : (int)log2_of(map->size);
}

static size_t home(const struct robin *map, uint64_t hash)
{
	return (size_t)(hash * UINT64_C(11400714819323198485) >>
			(64 - log2_of(map->size)));
}

static size_t slot_count(const struct robin *map)
{
	return map->size ? map->size + (size_t)reach(map) : 0;
}

static void empty_slots(struct robin *map)
{
	for (size_t i = 0; i < slot_count(map); i++)
		map->slots[i].distance = -1;
	map->count = 0;
}

static void insert(struct robin *map, struct robin_slot entry);

static void grow(struct robin *map)
{
	struct robin old = *map;

	map->size = old.size ? 2 * old.size : 4;
	/* One extra slot that always stays empty ends every probe and
	 * iteration. */
	map->slots = gp_mem_alloc(slot_count(map) + 1, sizeof(*map->slots));
	map->slots[slot_count(map)].distance = -1;
	empty_slots(map);
	for (size_t i = 0; i < slot_count(&old); i++)
		if (old.slots[i].distance >= 0)
			insert(map, old.slots[i]);
	free(old.slots);
}

/* The slot for a new entry; false: the map has to grow first. */
static bool find_place(const struct robin *map, struct robin_slot *entry,
		       size_t *place)
{
	size_t i;

	if (!map->size)
		return false;
	i = home(map, entry->hash);
	entry->distance = 0;
	while (map->slots[i].distance >= entry->distance) {
		i++;
		entry->distance++;
	}
	*place = i;
	return entry->distance < reach(map) &&
	       2 * (map->count + 1) <= map->size;
}

static void insert(struct robin *map, struct robin_slot entry)
{
	struct robin_slot displaced;
	size_t i, first;

	while (!find_place(map, &entry, &i))
		grow(map);
	for (first = i; map->slots[i].distance >= 0; i++) {
		if (map->slots[i].distance < entry.distance) {
			displaced = map->slots[i];
			map->slots[i] = entry;
			entry = displaced;
		} else if (entry.distance == reach(map)) {
			/* Displaced too far: it is inserted again after
			 * growing. */
			displaced = map->slots[first];
			entry.distance = displaced.distance;
			map->slots[first] = entry;
			grow(map);
			insert(map, displaced);
			return;
		}
		entry.distance++;
	}
	map->slots[i] = entry;
	map->count++;
}

size_t robin_place(const struct robin *map, uint64_t hash, uint32_t key)
{
	int distance = 0;

	if (!map->size)
		return SIZE_MAX;
	for (size_t i = home(map, hash); map->slots[i].distance >= distance;
	     i++, distance++)
		if (map->slots[i].key == key && map->slots[i].hash == hash)
			return i;
	return SIZE_MAX;
}

void **robin_find(struct robin *map, uint64_t hash, uint32_t key)
{
	size_t i = robin_place(map, hash, key);

	return i == SIZE_MAX ? NULL : &map->slots[i].value;
}

void robin_insert(struct robin *map, uint64_t hash, uint32_t key, void *value)
{
	insert(map, (struct robin_slot){ 0, hash, key, value });
}

void robin_erase(struct robin *map, uint64_t hash, uint32_t key)
{
	size_t i = robin_place(map, hash, key);

	if (i == SIZE_MAX)
		return;
	for (; map->slots[i + 1].distance > 0; i++) {
		map->slots[i] = map->slots[i + 1];
		map->slots[i].distance--;
	}
	map->slots[i].distance = -1;
	map->count--;
}

struct robin robin_copy(const struct robin *map)
{
	struct robin copy = *map;
	size_t bytes = (slot_count(map) + 1) * sizeof(*map->slots);

	if (!map->slots)
		return copy;
	copy.slots = gp_mem_take(bytes);
	memcpy(copy.slots, map->slots, bytes);
	return copy;
}

void robin_release(struct robin *map)
{
	free(map->slots);
	*map = (struct robin){ 0 };
}

size_t robin_end(const struct robin *map)
{
	return slot_count(map);
}

size_t robin_after(const struct robin *map, size_t i)
{
	do
		i++;
	while (i < slot_count(map) && map->slots[i].distance < 0);
	return i;
}

size_t robin_begin(const struct robin *map)
{
	if (!map->size || map->slots[0].distance >= 0)
		return 0;
	return robin_after(map, 0);
}
