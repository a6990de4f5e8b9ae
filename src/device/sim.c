/* SPDX-License-Identifier: MIT */
/*
 * The simulated device: a capacity, and addresses without memory. Addresses and
 * sizes follow gpupool/device.h, so that runs can be compared with PyTorch's
 * own allocator on a CUDA runtime that does the same.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "device/space.h"
#include "gpupool/device.h"
#include "gpupool/knob.h"

struct sim {
	struct gp_device device;
	uint64_t capacity, used, other;
	uint64_t shown; /* total to report, if not the capacity; else 0 */
	struct space memory, reservations;
	struct chunk *chunks; /* in order of address; NULL: placed upward */
	struct space system;  /* chunks in use, from the highest address down */
	/* Memory is placed where the recording's device placed it. */
	bool is_recorded;
	struct space recorded;		    /* at the recording's addresses */
	uint64_t preferred, preferred_size; /* for the next allocation */
	struct {
		uint64_t threshold, reserved, used;
	} pool;
};

static inline struct sim *sim_of(struct gp_device *device)
{
	return (struct sim *)device;
}

/* The cudaMalloc addresses of devices are 2^40 apart. */
#define ORDINAL_SHIFT 40
#define ORDINAL_RANGE (UINT64_C(1) << ORDINAL_SHIFT)

/* More memory than any device has, yet few enough units for a bitmap. */
#define MOST_MEMORY (UINT64_C(1) << 47)

static uint64_t physical(uint64_t size)
{
	return gp_round_up(size, GP_DEVICE_GRAIN);
}

static uint64_t free_bytes_of(const struct sim *sim)
{
	uint64_t taken = sim->used + sim->other;

	return taken < sim->capacity && taken >= sim->used
		       ? sim->capacity - taken
		       : 0;
}

/* Updates the device's reach: a request that would bring the bytes in use to
 * `would` was granted or refused. */
static void note_answer(struct sim *sim, uint64_t would, bool is_granted)
{
	struct gp_device_reach *reach = &sim->device.reach;

	if (!is_granted && would < reach->least_refused)
		reach->least_refused = would;
	if (is_granted && would > reach->most_granted)
		reach->most_granted = would;
}

/* Whether the device has that much memory left. */
static bool sim_grant(struct sim *sim, uint64_t size)
{
	bool is_granted = size <= free_bytes_of(sim);

	note_answer(sim, gp_sum(sim->used + size, sim->other), is_granted);
	if (is_granted)
		sim->used += size;
	return is_granted;
}

/* ---- placement of memory ---- */

/*
 * As CUDA does on Linux. It obtains address ranges from the system in multiples
 * of 32 MiB, as high as possible: in recordings, segments of 20 MiB are 32 MiB
 * apart, each below the previous one, and those of 86 MiB are 96 MiB apart.
 * Memory that fits between other allocations of a range is placed there, as low
 * as possible; an empty range is returned to the system.
 */
#define CHUNK  (UINT64_C(32) << 20)
#define CHUNKS (ORDINAL_RANGE / CHUNK)

struct chunk {
	uint32_t first; /* first chunk of its range, from 1; 0: in no range */
	uint32_t count; /* in the first chunk: number of chunks in the range */
	uint64_t used;	/* in the first chunk: allocated bytes */
};

/* Initially all addresses are taken, including a last chunk that never becomes
 * free. */
void gp_sim_place_downward(struct gp_device *device)
{
	struct sim *sim = sim_of(device);

	space_adopt(&sim->memory, sim->memory.base, ORDINAL_RANGE);
	space_take(&sim->system, CHUNK);
	sim->chunks = gp_mem_alloc(CHUNKS, sizeof(*sim->chunks));
}

/*
 * Where a driver places memory depends on everything else it holds: modules,
 * workspaces, what was freed before. A recording shows only the addresses it
 * returned, so wherever the recording has an address, that one is used. For the
 * rest the platform decides: on Linux new ranges come from the system, from
 * 0x7fff... downward; on Windows and WSL from CUDA's own range, which begins at
 * 0x502000000, 0x703a00000 or 0xb02600000 in recordings, upward.
 */
#define AROUND (UINT64_C(1) << 42)

/* A GPU's memory on Linux may be in the simulated device's range, but is
 * unlikely to begin at exactly the address of the simulated device's first
 * segment. */
static bool is_own_upward(const struct sim *sim,
			  const struct gp_device_place *place)
{
	uint64_t at = place->addr - sim->memory.base;

	return place->is_simulated ? at < ORDINAL_RANGE / 2 : !at;
}

static bool is_own_downward(const struct sim *sim,
			    const struct gp_device_place *place)
{
	uint64_t at = place->addr - sim->memory.base;

	if (place->is_window || at >= ORDINAL_RANGE)
		return false;
	return place->is_simulated ||
	       at + gp_round_up(place->size, CHUNK) == ORDINAL_RANGE - CHUNK;
}

/* What the recording has no address for is placed in the simulated device's own
 * range: below the recorded addresses on Linux, and above them elsewhere. */
static void sim_place_as(struct gp_device *device,
			 const struct gp_device_place *place)
{
	struct sim *sim = sim_of(device);

	if (is_own_upward(sim, place))
		return;
	sim->is_recorded = !is_own_downward(sim, place);
	if (sim->is_recorded && place->addr > AROUND)
		sim->recorded.base = (place->addr - AROUND) / CHUNK * CHUNK;
	if (place->addr < GP_SYSTEM_ADDRESSES)
		return;
	if (sim->is_recorded)
		sim->memory.base = gp_smaller(
			sim->memory.base, sim->recorded.base - ORDINAL_RANGE);
	gp_sim_place_downward(device);
}

static void sim_prefer(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct sim *sim = sim_of(device);

	sim->preferred = addr;
	sim->preferred_size = size;
}

/* The first chunk of the range that contains the address; NULL: none does. */
static struct chunk *range_of(const struct sim *sim, uint64_t addr)
{
	uint64_t at = (addr - sim->memory.base) / CHUNK;

	if (!sim->chunks || at >= CHUNKS || !sim->chunks[at].first)
		return NULL;
	return &sim->chunks[sim->chunks[at].first - 1];
}

static uint64_t start_of(const struct sim *sim, const struct chunk *range)
{
	return sim->memory.base + (uint64_t)(range - sim->chunks) * CHUNK;
}

/* Adds a range with room for that size, unless there are no addresses left. */
static void add_range(struct sim *sim, uint64_t size)
{
	uint64_t length = gp_round_up(size, CHUNK);
	uint64_t above = space_take(&sim->system, length);
	struct chunk *range;

	if (length > ORDINAL_RANGE || above > ORDINAL_RANGE - length) {
		space_give(&sim->system, above, length);
		return;
	}
	range = &sim->chunks[(ORDINAL_RANGE - above - length) / CHUNK];
	range->count = (uint32_t)(length / CHUNK);
	range->used = 0;
	for (uint32_t i = 0; i < range->count; i++)
		range[i].first = (uint32_t)(range - sim->chunks) + 1;
	space_give_within(&sim->memory, start_of(sim, range), length,
			  start_of(sim, range), length);
}

static void drop_range(struct sim *sim, struct chunk *range)
{
	uint64_t start = start_of(sim, range), length = range->count * CHUNK;

	for (uint32_t i = 0; i < range->count; i++)
		range[i].first = 0;
	space_adopt(&sim->memory, start, length);
	space_give(&sim->system,
		   ORDINAL_RANGE - (start - sim->memory.base) - length, length);
}

static bool take_preferred(struct sim *sim, uint64_t size)
{
	if (!sim->is_recorded || sim->preferred_size != size ||
	    !space_is_free(&sim->recorded, sim->preferred, size) ||
	    space_is_taken(&sim->reservations, sim->preferred, size))
		return false;
	space_adopt(&sim->recorded, sim->preferred, size);
	space_adopt(&sim->reservations, sim->preferred, size);
	return true;
}

static uint64_t place(struct sim *sim, uint64_t size)
{
	uint64_t end = sim->memory.base + ORDINAL_RANGE;
	uint64_t addr;
	struct chunk *range;

	if (take_preferred(sim, size))
		return sim->preferred;
	addr = space_take(&sim->memory, size);
	if (sim->chunks && addr >= end) {
		space_give(&sim->memory, addr, size);
		add_range(sim, size);
		addr = space_take(&sim->memory, size);
	}
	range = range_of(sim, addr);
	if (range)
		range->used += physical(size);
	return addr;
}

static void unplace(struct sim *sim, uint64_t addr, uint64_t size)
{
	struct chunk *range = range_of(sim, addr);

	if (!range) {
		space_give(&sim->memory, addr, size);
		space_give(&sim->recorded, addr, size);
		if (sim->is_recorded)
			space_give(&sim->reservations, addr, size);
		return;
	}
	space_give_within(&sim->memory, addr, size, start_of(sim, range),
			  range->count * CHUNK);
	range->used -= physical(size);
	if (!range->used)
		drop_range(sim, range);
}

/* ---- the model of a memory pool ---- */

/*
 * A lower bound for every pool: it packs without gaps, so that it grows only
 * when all its memory is in use, and it grows by 32 MiB, as CUDA's own pool
 * does (tests/gpu/results, driver 580). CUDA's pool places memory by rules that
 * are not public, and needs at least as much.
 */
#define POOL_GRAIN (UINT64_C(32) << 20)

static void pool_set(struct gp_device *device,
		     const struct gp_pool_settings *settings)
{
	sim_of(device)->pool.threshold = settings->threshold;
}

static bool pool_take(struct gp_device *device, uint64_t size, uint16_t stream,
		      uint64_t *addr)
{
	struct sim *sim = sim_of(device);
	uint64_t room = sim->pool.reserved - sim->pool.used;

	(void)stream;
	if (size > room) {
		uint64_t more = gp_round_up(size - room, POOL_GRAIN);

		if (!sim_grant(sim, more)) {
			more = size - room;
			if (!sim_grant(sim, more))
				return false;
		}
		sim->pool.reserved += more;
	}
	sim->pool.used += size;
	*addr = place(sim, size);
	return true;
}

static void pool_give(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint16_t stream)
{
	struct sim *sim = sim_of(device);

	(void)stream;
	sim->pool.used -= size;
	unplace(sim, addr, size);
}

static void pool_wait(struct gp_device *device, uint16_t stream, uint16_t by)
{
	(void)device;
	(void)stream;
	(void)by;
}

static void pool_trim(struct gp_device *device, uint64_t keep)
{
	struct sim *sim = sim_of(device);
	uint64_t least = keep > sim->pool.used ? keep : sim->pool.used;

	least = least < GP_UNLIMITED - POOL_GRAIN
			? gp_round_up(least, POOL_GRAIN)
			: least;
	if (sim->pool.reserved <= least)
		return;
	sim->used -= sim->pool.reserved - least;
	sim->pool.reserved = least;
}

static void pool_synchronize(struct gp_device *device)
{
	pool_trim(device, sim_of(device)->pool.threshold);
}

static void pool_usage(struct gp_device *device, uint64_t *reserved,
		       uint64_t *used)
{
	struct sim *sim = sim_of(device);

	*reserved = sim->pool.reserved;
	*used = sim->pool.used;
}

static const struct gp_pool_ops sim_pool_ops = {
	.set = pool_set,
	.malloc = pool_take,
	.free = pool_give,
	.wait = pool_wait,
	.synchronize = pool_synchronize,
	.trim = pool_trim,
	.usage = pool_usage,
};

/* ---- the device ---- */

static bool sim_malloc(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct sim *sim = sim_of(device);

	/* Rounding sizes near 2^64 up to whole pages would overflow. */
	if (size > MOST_MEMORY || !sim_grant(sim, physical(size))) {
		device->calls.malloc_failed++;
		return false;
	}
	gp_call_malloc(&device->calls, size);
	*addr = place(sim, size);
	return true;
}

static void sim_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct sim *sim = sim_of(device);

	gp_call_free(&device->calls, size);
	sim->used -= physical(size);
	unplace(sim, addr, size);
}

static void sim_info(struct gp_device *device, uint64_t *free_bytes,
		     uint64_t *total_bytes)
{
	struct sim *sim = sim_of(device);

	*free_bytes = free_bytes_of(sim);
	*total_bytes = sim->capacity;
	if (sim->shown) {
		*total_bytes = sim->shown;
		*free_bytes =
			sim->used < sim->shown ? sim->shown - sim->used : 0;
		*free_bytes -=
			sim->other < *free_bytes ? sim->other : *free_bytes;
	}
}

/* Others get the memory even if there is no room for it, because the recorded
 * program went on. */
static void sim_set_other(struct gp_device *device, uint64_t bytes)
{
	struct sim *sim = sim_of(device);
	uint64_t would = gp_sum(sim->used, bytes);
	bool is_granted = would <= sim->capacity;

	if (bytes > sim->other) {
		note_answer(sim, would, is_granted);
		if (!is_granted && !device->reach.others_short)
			device->reach.others_short = would - sim->capacity;
	}
	sim->other = bytes;
}

static bool sim_reserve(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	device->calls.reserve++;
	*addr = space_take(&sim_of(device)->reservations, size);
	return true;
}

static void sim_unreserve(struct gp_device *device, uint64_t addr,
			  uint64_t size)
{
	device->calls.unreserve++;
	space_give(&sim_of(device)->reservations, addr, size);
}

static bool sim_map(struct gp_device *device, uint64_t addr, uint64_t size,
		    uint64_t page)
{
	struct sim *sim = sim_of(device);

	(void)addr;
	if (!sim_grant(sim, size)) {
		device->calls.map_failed++;
		return false;
	}
	gp_call_map(&device->calls, size, page);
	return true;
}

static void sim_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t page)
{
	(void)addr;
	gp_call_unmap(&device->calls, size, page);
	sim_of(device)->used -= size;
}

/* Recorded addresses may lie in the range of either space. */
static void take_range(struct sim *sim, uint64_t addr, uint64_t size)
{
	space_adopt(sim->is_recorded ? &sim->recorded : &sim->memory, addr,
		    size);
	space_adopt(&sim->reservations, addr, size);
}

static void sim_adopt(struct gp_device *device, uint64_t addr, uint64_t size,
		      bool is_mapped)
{
	struct sim *sim = sim_of(device);

	sim->used += is_mapped ? size : physical(size);
	take_range(sim, addr, size);
}

static void sim_adopt_range(struct gp_device *device, uint64_t addr,
			    uint64_t size)
{
	take_range(sim_of(device), addr, size);
}

/* Managed pages may be in host memory, so the size of the device is not a
 * limit. */
static bool sim_managed(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	if (size > MOST_MEMORY)
		return false;
	*addr = place(sim_of(device), size);
	return true;
}

static void sim_managed_free(struct gp_device *device, uint64_t addr,
			     uint64_t size)
{
	unplace(sim_of(device), addr, size);
}

static void sim_destroy(struct gp_device *device)
{
	struct sim *sim = sim_of(device);

	space_release(&sim->memory);
	space_release(&sim->reservations);
	space_release(&sim->system);
	space_release(&sim->recorded);
	free(sim->chunks);
	free(sim);
}

static const struct gp_device_ops sim_ops = {
	.name = "sim",
	.malloc = sim_malloc,
	.free = sim_free,
	.info = sim_info,
	.set_other = sim_set_other,
	.reserve = sim_reserve,
	.unreserve = sim_unreserve,
	.map = sim_map,
	.unmap = sim_unmap,
	.adopt = sim_adopt,
	.adopt_range = sim_adopt_range,
	.destroy = sim_destroy,
	.pool = &sim_pool_ops,
	.managed = sim_managed,
	.managed_free = sim_managed_free,
	.place_as = sim_place_as,
	.prefer = sim_prefer,
};

struct gp_device *gp_sim_create(uint32_t ordinal, uint64_t capacity)
{
	struct sim *sim = gp_mem_alloc(1, sizeof(*sim));

	sim->device.ops = &sim_ops;
	sim->device.reach.least_refused = UINT64_MAX;
	sim->device.reach.shortest_range = UINT64_MAX;
	sim->shown = capacity == GP_UNLIMITED ? GP_SIM_UNLIMITED_TOTAL : 0;
	sim->capacity = capacity < MOST_MEMORY ? capacity : MOST_MEMORY;
	sim->memory.base = GP_SIM_BASE + ((uint64_t)ordinal << ORDINAL_SHIFT);
	sim->reservations.base = GP_SIM_RESERVE_BASE;
	sim->pool.threshold = GP_UNLIMITED;
	return &sim->device;
}

void gp_sim_resize(struct gp_device *device, uint64_t capacity)
{
	struct sim *sim = sim_of(device);

	sim->capacity = capacity;
	sim->shown = 0;
}

struct gp_device *gp_sim_copy(const struct gp_device *device)
{
	const struct sim *from = (const struct sim *)device;
	struct sim *sim = gp_mem_take(sizeof(*sim));

	*sim = *from;
	sim->memory = space_copy(&from->memory);
	sim->reservations = space_copy(&from->reservations);
	sim->system = space_copy(&from->system);
	sim->recorded = space_copy(&from->recorded);
	if (!from->chunks)
		return &sim->device;
	sim->chunks = gp_mem_alloc(CHUNKS, sizeof(*sim->chunks));
	for (size_t i = 0; i < CHUNKS; i++)
		if (from->chunks[i].first)
			sim->chunks[i] = from->chunks[i];
	return &sim->device;
}

struct gp_device *gp_sim_boundless(uint32_t ordinal, uint64_t shown)
{
	struct gp_device *device = gp_sim_create(ordinal, GP_UNLIMITED);

	sim_of(device)->shown = shown;
	return device;
}
