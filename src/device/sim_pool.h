/* SPDX-License-Identifier: MIT */
/* The simulated device, and what it has in the place of a memory pool. */
#ifndef DEVICE_SIM_POOL_H
#define DEVICE_SIM_POOL_H

#include <stdbool.h>

#include "device/space.h"
#include "gpupool/device.h"

struct sim {
	struct gp_device device;
	uint64_t capacity, used, other;
	uint64_t shown; /* the total, where it is not the capacity; else 0 */
	struct space memory, reservations;
	struct {
		uint64_t threshold, reserved, used;
	} pool;
};

static inline struct sim *sim_of(struct gp_device *device)
{
	return (struct sim *)device;
}

/* Whether so much more is there; noted in the device's reach. */
bool sim_grant(struct sim *sim, uint64_t size);

extern const struct gp_pool_ops sim_pool_ops;

#endif
