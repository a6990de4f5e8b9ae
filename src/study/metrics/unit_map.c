/* SPDX-License-Identifier: MIT */
/* Units by address. */
#include "study/metrics/unit_map.h"

#include <string.h>

#include "base/mem.h"

/* The first unit that begins at or above addr. */
static size_t lower(const struct unit_map *map, uint64_t addr)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->units[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void unit_map_add(struct unit_map *map, uint64_t addr, uint64_t size,
		  uint64_t event)
{
	size_t at = lower(map, addr);

	map->units = gp_mem_grow(map->units, &map->room, map->count + 1,
				 sizeof(*map->units));
	memmove(&map->units[at + 1], &map->units[at],
		(map->count - at) * sizeof(*map->units));
	map->units[at] = (struct unit){
		.addr = addr, .size = size, .free = size, .since = event
	};
	map->count++;
}

void unit_map_remove(struct unit_map *map, uint64_t addr, uint64_t size)
{
	size_t from = lower(map, addr), to = lower(map, addr + size);

	if (from == to)
		return;
	memmove(&map->units[from], &map->units[to],
		(map->count - to) * sizeof(*map->units));
	map->count -= to - from;
}

struct unit *unit_map_find(struct unit_map *map, uint64_t addr)
{
	size_t at = lower(map, addr);

	if (at < map->count && map->units[at].addr == addr)
		return &map->units[at];
	if (!at || addr - map->units[at - 1].addr >= map->units[at - 1].size)
		return NULL;
	return &map->units[at - 1];
}

double unit_pinned(struct unit *unit, uint64_t event)
{
	if (unit->holders)
		unit->pinned += (double)unit->free / (double)unit->holders *
				(double)(event - unit->since);
	unit->since = event;
	return unit->pinned;
}

enum change { ALLOC, PEND, FREE };

static void change(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event, enum change change)
{
	struct unit *unit = unit_map_find(map, addr);
	struct unit *end = map->units + map->count;

	for (; size && unit && unit < end; unit++) {
		uint64_t part = unit->addr + unit->size - addr;

		if (part > size)
			part = size;
		unit_pinned(unit, event);
		if (change == ALLOC) {
			unit->free -= part < unit->free ? part : unit->free;
			unit->holders++;
		} else if (change == PEND) {
			unit->holders -= unit->holders != 0;
		} else {
			unit->free += part;
		}
		size -= part;
		addr += part;
	}
}

void unit_map_alloc(struct unit_map *map, uint64_t addr, uint64_t size,
		    uint64_t event)
{
	change(map, addr, size, event, ALLOC);
}

void unit_map_pend(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event)
{
	change(map, addr, size, event, PEND);
}

void unit_map_free(struct unit_map *map, uint64_t addr, uint64_t size,
		   uint64_t event)
{
	change(map, addr, size, event, FREE);
}
