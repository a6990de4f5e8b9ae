/* SPDX-License-Identifier: MIT */
/*
 * A simulated device that places memory where another run's was: which block an
 * allocator takes depends on addresses, and a device chooses its own.
 */
#ifndef REPLAY_VERIFY_TOLD_H
#define REPLAY_VERIFY_TOLD_H

#include "gpupool/device.h"
#include "replay/verify/verify.h"

struct told_script {
	const struct gp_deed *deeds; /* borrowed: the other run's */
	size_t count;
};

/* As struct gp_replay_config's make_device, with a script. */
struct gp_device *told_create(void *script, uint32_t ordinal,
			      uint64_t capacity);

#endif
