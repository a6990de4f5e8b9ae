/* SPDX-License-Identifier: MIT */
/*
 * Drafts: a trace that may be written, for what-ifs.
 *
 * A draft begins as a copy of what a trace's program asks for.  It is changed
 * in place, and a trace is made of it.  Events stand where they stood, so that
 * an event's number means the same in both: one that is left out becomes a
 * GP_SNAPSHOT, which asks for nothing.  Recorded outcomes and addresses would
 * not be this program's, and are left out.  Only events that are added move
 * those behind them.
 */
#ifndef TRACE_DRAFT_H
#define TRACE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* An event that is put before the one of that number (the number of events:
 * behind the last). */
struct gp_addition {
	uint64_t before;
	struct gp_event event;
};

struct gp_draft_device {
	struct gp_event *events;
	size_t event_count;
	struct gp_segment *segments; /* the start's */
	struct gp_block *blocks;
	size_t segment_count, block_count;
	uint32_t block_ids;
	uint64_t total_memory;
	/* The rest is the draft's own. */
	uint64_t *names; /* id -> the file's; as long as name_room says */
	size_t name_room;
	uint64_t next_name; /* for new blocks */
	bool names_are_own; /* each of one block, for sure */
	struct gp_addition *additions;
	size_t addition_count, addition_room;
};

struct gp_draft {
	const struct gp_trace *trace;	 /* borrowed */
	struct gp_draft_device *devices; /* as many as the trace has */
	uint8_t release; /* of PyTorch, that it is of; 0: as the trace says */
};

void gp_draft_init(struct gp_draft *draft, const struct gp_trace *trace);
void gp_draft_release(struct gp_draft *draft);

void gp_draft_leave_out(struct gp_event *event);
/* A block that is live, or waits, at the start is free by then. */
void gp_draft_set_free(struct gp_block *block);

/* Whether the event is about a block of its own. */
bool gp_draft_has_block(const struct gp_event *event);

/* A block that the trace did not have. */
uint32_t gp_draft_add_block(struct gp_draft_device *device);
/* Additions before the same event stay in the order in which they were made;
 * they are events once settled. */
void gp_draft_add(struct gp_draft_device *device, uint64_t before,
		  const struct gp_event *event);
void gp_draft_settle(struct gp_draft_device *device);

/* Borrows texts, sites and tables of the draft's trace, which must outlive it.
 * The draft is empty then. */
struct gp_trace *gp_draft_finish(struct gp_draft *draft);

/* The same trace without its names: source lines and marks are numbered. */
struct gp_trace *gp_trace_anonymous(const struct gp_trace *trace);

#endif
