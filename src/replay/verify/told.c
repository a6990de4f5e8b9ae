/* SPDX-License-Identifier: MIT */
/* A simulated device that places memory where another run's was. */
#include "replay/verify/told.h"

#include <stdlib.h>

#include "base/mem.h"

struct place {
	uint64_t addr, planned, size;
};

struct told {
	struct gp_device device;
	struct gp_device *plan; /* says what there is room for */
	const struct told_script *script;
	size_t next_alloc, next_map; /* deeds not yet looked at */
	struct place *places;
	size_t count, room;
};

static struct told *told_of(struct gp_device *device)
{
	return (struct told *)device;
}

/* The deed's address, or what is planned where there is none. */
static uint64_t addr_of(const struct told *t, enum gp_event_kind kind,
			size_t *next, uint64_t planned)
{
	while (*next < t->script->count &&
	       t->script->deeds[*next].action.kind != kind)
		++*next;
	return *next < t->script->count ? t->script->deeds[*next].action.addr
					: planned;
}

static void add(struct told *t, uint64_t addr, uint64_t planned, uint64_t size)
{
	t->places = gp_mem_grow(t->places, &t->room, t->count + 1,
				sizeof(*t->places));
	t->places[t->count++] = (struct place){ addr, planned, size };
}

/* The newest that holds the address; NULL: none does. */
static struct place *find(const struct told *t, uint64_t addr)
{
	for (size_t i = t->count; i--;)
		if (addr - t->places[i].addr < t->places[i].size)
			return &t->places[i];
	return NULL;
}

static uint64_t planned_of(const struct told *t, uint64_t addr)
{
	const struct place *place = find(t, addr);

	return place ? place->planned + (addr - place->addr) : addr;
}

static void drop(struct told *t, uint64_t addr)
{
	struct place *place = find(t, addr);

	if (place)
		*place = t->places[--t->count];
}

static bool told_malloc(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct told *t = told_of(device);
	uint64_t planned;

	if (!t->plan->ops->malloc(t->plan, size, &planned))
		return false;
	*addr = addr_of(t, GP_SEGMENT_ALLOC, &t->next_alloc, planned);
	t->next_alloc++;
	add(t, *addr, planned, size);
	return true;
}

static void told_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct told *t = told_of(device);

	t->plan->ops->free(t->plan, planned_of(t, addr), size);
	drop(t, addr);
}

static void told_info(struct gp_device *device, uint64_t *free_bytes,
		      uint64_t *total_bytes)
{
	struct gp_device *plan = told_of(device)->plan;

	plan->ops->info(plan, free_bytes, total_bytes);
}

static void told_set_other(struct gp_device *device, uint64_t bytes)
{
	struct gp_device *plan = told_of(device)->plan;

	plan->ops->set_other(plan, bytes);
}

/* Pages are first mapped where the reservation begins. */
static bool told_reserve(struct gp_device *device, uint64_t size,
			 uint64_t *addr)
{
	struct told *t = told_of(device);
	uint64_t planned;

	if (!t->plan->ops->reserve(t->plan, size, &planned))
		return false;
	*addr = addr_of(t, GP_SEGMENT_MAP, &t->next_map, planned);
	add(t, *addr, planned, size);
	return true;
}

static void told_unreserve(struct gp_device *device, uint64_t addr,
			   uint64_t size)
{
	struct told *t = told_of(device);

	t->plan->ops->unreserve(t->plan, planned_of(t, addr), size);
	drop(t, addr);
}

static bool told_map(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint64_t page)
{
	struct told *t = told_of(device);

	if (!t->plan->ops->map(t->plan, planned_of(t, addr), size, page))
		return false;
	addr_of(t, GP_SEGMENT_MAP, &t->next_map, 0);
	t->next_map++;
	return true;
}

static void told_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
		       uint64_t page)
{
	struct told *t = told_of(device);

	t->plan->ops->unmap(t->plan, planned_of(t, addr), size, page);
}

static void told_adopt(struct gp_device *device, uint64_t addr, uint64_t size,
		       bool is_mapped)
{
	struct gp_device *plan = told_of(device)->plan;

	plan->ops->adopt(plan, addr, size, is_mapped);
}

static void told_destroy(struct gp_device *device)
{
	struct told *t = told_of(device);

	gp_device_destroy(t->plan);
	free(t->places);
	free(t);
}

static const struct gp_device_ops told_ops = {
	.name = "told",
	.malloc = told_malloc,
	.free = told_free,
	.info = told_info,
	.set_other = told_set_other,
	.reserve = told_reserve,
	.unreserve = told_unreserve,
	.map = told_map,
	.unmap = told_unmap,
	.adopt = told_adopt,
	.destroy = told_destroy,
};

struct gp_device *told_create(void *script, uint32_t ordinal, uint64_t capacity)
{
	struct told *t = gp_mem_alloc(1, sizeof(*t));

	t->device.ops = &told_ops;
	t->device.reach.least_refused = UINT64_MAX;
	t->script = script;
	t->plan = gp_sim_create(ordinal, capacity);
	return &t->device;
}
