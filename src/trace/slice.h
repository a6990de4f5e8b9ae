/* SPDX-License-Identifier: MIT */
/*
 * Slices: a part of a trace that replays on its own.
 *
 * What the part needs of what came before is put in front of it: memory as it
 * was then, as the start state; settings, limits and pools that were changed by
 * then; and which of the live blocks other streams used.  What a block that is
 * freed already waits for is not in a start state, so that it is told when it
 * is done.  Counters begin anew.
 */
#ifndef TRACE_SLICE_H
#define TRACE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* A block that is pending free at the start was free from that event on. */
struct gp_completed {
	uint64_t event;
	uint32_t id;
};

/* Of one device: events from <= number < to, its memory before from, and what
 * waited then, by event.  Memory is borrowed until the slice is made. */
struct gp_slice {
	uint64_t from, to;
	struct gp_state start;
	const struct gp_completed *completed;
	size_t completed_count;
	bool no_split_ends; /* with a pool's last holder, as from 2.14 on */
};

/*
 * Where a part may begin, or end, nearest to that event: outcomes stand in
 * front of the alloc that they are of, and behind the empty_cache.
 */
uint64_t gp_slice_place(const struct gp_device_trace *device, uint64_t event);

/* slices: one for each device, from <= to <= its events.  Borrows texts, sites
 * and tables of trace, which must outlive it. */
struct gp_trace *gp_trace_slice(const struct gp_trace *trace,
				const struct gp_slice *slices);

#endif
