/* SPDX-License-Identifier: MIT */
/*
 * A prologue: requests that lead an empty allocator to a window's start state.
 *
 * PyTorch's allocator can be brought to a state only by asking for it, so both
 * sides are.  First each segment is obtained and filled whole, then it is cut
 * into its blocks with all others full, so that there is only one place to cut;
 * then what is free is freed.
 */
#ifndef REPLAY_VERIFY_PROLOGUE_H
#define REPLAY_VERIFY_PROLOGUE_H

#include "gpupool/knob.h"
#include "gpupool/trace.h"

struct prologue {
	struct gp_trace trace; /* the given one, with one device */
	struct gp_device_trace device;
	struct gp_event *events; /* owned; prologue, then the trace's */
	size_t count, room;
	size_t length; /* events of the prologue */
	uint32_t next_id;
	const struct gp_settings *settings;
};

/* Borrows trace and settings.  No start state: no prologue. */
void prologue_make(struct prologue *prologue, const struct gp_trace *trace,
		   uint32_t device, const struct gp_settings *settings);
void prologue_release(struct prologue *prologue);

/* How many segments of a state are as those of another, one by one. */
uint64_t prologue_alike(const struct gp_state *a, const struct gp_state *b);

#endif
