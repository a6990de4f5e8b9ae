/* SPDX-License-Identifier: MIT */
/*
 * The same blocks, each for as long as in a run that was made, as a trace in
 * which streams and pools may be merged.
 *
 * A run is listened to: which requests were served, and when each block was
 * free again, however long after its free that was.  So the traces made of it
 * keep the same bytes occupied at every moment, and what they reserve differs
 * only by where the blocks may lie.
 */
#ifndef STUDY_METRICS_MERGED_H
#define STUDY_METRICS_MERGED_H

#include "trace/draft.h"
#include "gpupool/replay.h"

struct occupancy_end {
	uint64_t event;
	uint32_t id;
};

struct occupancy {
	const struct gp_device_trace *device; /* borrowed */
	bool *is_served;		      /* by event */
	struct occupancy_end *ends;
	size_t end_count, end_room;
};

void occupancy_init(struct occupancy *occupancy,
		    const struct gp_device_trace *device);
void occupancy_release(struct occupancy *occupancy);

/* struct gp_replay_config's action; arg is the struct occupancy. */
void occupancy_hear(void *arg, const struct gp_action *action, uint64_t event);

enum merge { MERGE_NOTHING, MERGE_STREAMS, MERGE_ALL };

/* Borrows the tables of the trace, whose device was listened to. */
struct gp_trace *merged_make(const struct gp_trace *trace, uint32_t device,
			     const struct occupancy *occupancy,
			     enum merge merge);

#endif
