/* SPDX-License-Identifier: MIT */
/*
 * How far PyTorch can be compared: the first request of a device after which
 * its behaviour depends on chance.
 */
#ifndef CONFORM_HORIZON_H
#define CONFORM_HORIZON_H

#include "contrast.h"

#define HORIZON_NEVER UINT64_MAX

struct horizon {
	uint64_t event;
	enum verdict verdict; /* why */
};

struct horizon horizon_find(const struct gp_device_trace *trace,
			    const struct outcome *ours,
			    const struct outcome *theirs);

#endif
