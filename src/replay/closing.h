/* SPDX-License-Identifier: MIT */
/* What a run leaves behind: counters, memory, and what its device tells. */
#ifndef REPLAY_CLOSING_H
#define REPLAY_CLOSING_H

#include "gpupool/replay.h"

void closing_note(struct gp_replay_result *result,
		  const struct gp_replay_config *config,
		  struct gp_allocator *allocator, struct gp_device *device);

/* GP_OK unless the engine or the device broke on the way. */
enum gp_status closing_health(struct gp_allocator *allocator,
			      struct gp_device *device, struct gp_diag *diag);

#endif
