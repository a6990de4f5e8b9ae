/* SPDX-License-Identifier: MIT */
/*
 * A trace with the same blocks and lifetimes as in an observed run, in which
 * streams and pools may be merged.
 *
 * While observing a run it is recorded which requests were served, and when
 * each block's memory became free again, however long after its free. So the
 * traces made from it occupy the same bytes at every moment, and their reserved
 * memory differs only because of where blocks may be placed.
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

/* For struct gp_replay_config's action; arg is the struct occupancy. */
void occupancy_action(void *arg, const struct gp_action *action,
		      uint64_t event);

enum merge { MERGE_NOTHING, MERGE_STREAMS, MERGE_ALL };

/* Makes the trace. Borrows the tables of the trace whose device was
 * observed. */
struct gp_trace *merged_make(const struct gp_trace *trace, uint32_t device,
			     const struct occupancy *occupancy,
			     enum merge merge);

#endif
