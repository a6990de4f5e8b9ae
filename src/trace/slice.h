/* SPDX-License-Identifier: MIT */
/*
 * Slices: a part of a trace that can be replayed on its own.
 *
 * The part is preceded by what it depends on: the memory at that time, as its
 * start state; settings, limits and pools that were changed before; and which
 * live blocks were used on other streams. A start state does not contain what a
 * pending block waits for, so its completion becomes an event. Counters start
 * at 0.
 */
#ifndef TRACE_SLICE_H
#define TRACE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* A block that is pending free at the start was complete at that event. */
struct gp_completed {
	uint64_t event;
	uint32_t id;
};

/* The events from <= number < to of a device; its memory before from; and the
 * completions, in order of event, of blocks that were pending then. The memory
 * is borrowed until the slice is made. */
struct gp_slice {
	uint64_t from, to;
	struct gp_state start;
	const struct gp_completed *completed;
	size_t completed_count;
	/* no_split ends with a pool's last holder, as from 2.14 on */
	bool no_split_ends;
};

/*
 * The nearest event at which a slice may begin or end: outcomes precede the
 * alloc that they belong to, and follow the empty_cache.
 */
uint64_t gp_slice_place(const struct gp_device_trace *device, uint64_t event);

/* slices: one for each device; from <= to <= its number of events. The slice
 * borrows texts, sites and tables of trace, which must outlive it. */
struct gp_trace *gp_trace_slice(const struct gp_trace *trace,
				const struct gp_slice *slices);

#endif
