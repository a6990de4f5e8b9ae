/* SPDX-License-Identifier: MIT */
/* Requests without memory: what PyTorch's message tells of them, besides what
 * watch.c notes. */
#ifndef REPLAY_OOM_H
#define REPLAY_OOM_H

#include "gpupool/replay.h"

/* What a device's allocator is configured with after so many events. */
struct configured {
	struct gp_settings settings;
	double fraction;
	bool has_limit;
	uint64_t events;
};
struct configured configured_at_start(const struct gp_settings *settings);

/* Is more to be known of the next one than that it was there? */
bool oom_is_told(const struct gp_replay_config *config,
		 const struct gp_replay_result *result);
/* allocator and device are as the request left them. */
void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct configured *configured, struct gp_allocator *allocator,
		  struct gp_device *device);
/* oom NULL: no more is known. */
void oom_add(struct gp_replay_result *result,
	     const struct gp_replay_config *config, uint64_t event,
	     const struct gp_oom *oom);

#endif
