/* SPDX-License-Identifier: MIT */
/*
 * A prologue: requests that bring an empty allocator into a window's start
 * state.
 *
 * PyTorch's allocator offers no way to set its state other than requests, so
 * both runs use requests. First each segment is allocated and filled
 * completely. Then it is cut into its blocks while all other segments are full,
 * so that each block can only be placed where it should be. Finally the blocks
 * that are free in the start state are freed.
 */
#ifndef REPLAY_VERIFY_PROLOGUE_H
#define REPLAY_VERIFY_PROLOGUE_H

#include "gpupool/knob.h"
#include "gpupool/trace.h"

struct prologue {
	struct gp_trace trace; /* the given trace, reduced to one device */
	struct gp_device_trace device;
	struct gp_event *events; /* owned: the prologue's, then the trace's */
	size_t count, room;
	size_t length; /* events of the prologue */
	uint32_t next_id;
	const struct gp_settings *settings;
};

/* Borrows trace and settings. Without a start state the prologue is empty. */
void prologue_make(struct prologue *prologue, const struct gp_trace *trace,
		   uint32_t device, const struct gp_settings *settings);
void prologue_release(struct prologue *prologue);

/* The number of segments that are the same in both states, compared pairwise by
 * index. */
uint64_t prologue_alike(const struct gp_state *a, const struct gp_state *b);

#endif
