/* SPDX-License-Identifier: MIT */
/*
 * Drafts: a copy of a trace that what-ifs can modify.
 *
 * A draft begins as a copy of the requests of a trace. It is modified in place,
 * and then a trace is made of it. Events keep their positions, so that an event
 * has the same number in both: an event that is left out becomes a GP_SNAPSHOT,
 * which has no effect. Recorded outcomes and addresses are left out, because
 * they would not be those of the modified program. Only added events shift
 * later ones.
 */
#ifndef TRACE_DRAFT_H
#define TRACE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* An event to be inserted before the event with that number (the number of
 * events: at the end). */
struct gp_addition {
	uint64_t before;
	struct gp_event event;
};

struct gp_draft_device {
	struct gp_event *events;
	size_t event_count;
	struct gp_segment *segments; /* of the start state */
	struct gp_block *blocks;
	size_t segment_count, block_count;
	uint32_t block_ids;
	uint64_t total_memory;
	/* The members below are private. */
	/* id -> the file's id; up to name_room entries. NULL: the same. */
	uint64_t *names;
	size_t name_room;
	uint64_t next_name; /* for new blocks */
	bool names_are_own; /* each name is known to belong to one block */
	struct gp_addition *additions;
	size_t addition_count, addition_room;
};

struct gp_draft {
	const struct gp_trace *trace;	 /* borrowed */
	struct gp_draft_device *devices; /* one per device of the trace */
	uint8_t release; /* PyTorch's release; 0: that of the trace */
};

void gp_draft_init(struct gp_draft *draft, const struct gp_trace *trace);
void gp_draft_release(struct gp_draft *draft);

void gp_draft_leave_out(struct gp_event *event);
/* Makes a block that is live or pending free at the start free. */
void gp_draft_set_free(struct gp_block *block);

/* Whether the event refers to a block. */
bool gp_draft_has_block(const struct gp_event *event);

/* Adds a block that is not in the trace; returns its id. */
uint32_t gp_draft_add_block(struct gp_draft_device *device);
/* Inserts an event; several before the same event keep the order of the calls.
 * They become events when the draft is settled. */
void gp_draft_add(struct gp_draft_device *device, uint64_t before,
		  const struct gp_event *event);
void gp_draft_settle(struct gp_draft_device *device);

/* Makes the trace and empties the draft. The trace borrows texts, sites and
 * tables of the draft's trace, which must outlive it. */
struct gp_trace *gp_draft_finish(struct gp_draft *draft);

/* The trace as if others used no memory of the devices; outcomes and addresses
 * are kept. It borrows from the given trace, which must outlive it. NULL:
 * others use no memory in the given trace either. */
struct gp_trace *gp_trace_without_others(const struct gp_trace *trace);

/* A copy of the trace without names: source lines and marks are numbered. */
struct gp_trace *gp_trace_anonymous(const struct gp_trace *trace);

#endif
