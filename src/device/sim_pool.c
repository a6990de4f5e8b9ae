/* SPDX-License-Identifier: MIT */
/*
 * The least a pool can do with: it packs without a gap, so that it holds more
 * only when all that it holds is used.  CUDA's own places memory by rules that
 * are not public, and needs as much or more.
 */
#include "device/sim_pool.h"

static void set(struct gp_device *device,
		const struct gp_pool_settings *settings)
{
	sim_of(device)->pool.threshold = settings->threshold;
}

static bool take(struct gp_device *device, uint64_t size, uint16_t stream,
		 uint64_t *addr)
{
	struct sim *sim = sim_of(device);
	uint64_t room = sim->pool.reserved - sim->pool.used;

	(void)stream;
	if (size > room) {
		if (!sim_grant(sim, size - room))
			return false;
		sim->pool.reserved += size - room;
	}
	sim->pool.used += size;
	*addr = space_take(&sim->memory, size);
	return true;
}

static void give(struct gp_device *device, uint64_t addr, uint64_t size,
		 uint16_t stream)
{
	struct sim *sim = sim_of(device);

	(void)stream;
	sim->pool.used -= size;
	space_give(&sim->memory, addr, size);
}

static void wait(struct gp_device *device, uint16_t stream, uint16_t by)
{
	(void)device;
	(void)stream;
	(void)by;
}

static void trim(struct gp_device *device, uint64_t keep)
{
	struct sim *sim = sim_of(device);
	uint64_t least = keep > sim->pool.used ? keep : sim->pool.used;

	if (sim->pool.reserved <= least)
		return;
	sim->used -= sim->pool.reserved - least;
	sim->pool.reserved = least;
}

static void synchronize(struct gp_device *device)
{
	trim(device, sim_of(device)->pool.threshold);
}

static void usage(struct gp_device *device, uint64_t *reserved, uint64_t *used)
{
	struct sim *sim = sim_of(device);

	*reserved = sim->pool.reserved;
	*used = sim->pool.used;
}

const struct gp_pool_ops sim_pool_ops = {
	.set = set,
	.malloc = take,
	.free = give,
	.wait = wait,
	.synchronize = synchronize,
	.trim = trim,
	.usage = usage,
};
