/* What PyTorch's message tells of an OOM, besides what watch.c notes. */
#ifndef REPLAY_OOM_H
#define REPLAY_OOM_H

#include "gpupool/replay.h"

/* allocator and device are as the request left them. */
void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct gp_allocator *allocator, struct gp_device *device);

#endif
