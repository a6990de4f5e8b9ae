/* SPDX-License-Identifier: MIT */
/*
 * The requests of a trace, read once for all branches of a run. Ids are reused,
 * because each branch has an array of blocks indexed by id.
 */
#ifndef STUDY_BRANCH_STEPS_H
#define STUDY_BRANCH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

enum step_kind { STEP_ALLOC, STEP_FREE, STEP_BOTH, STEP_OTHER };

/* A request. Its id is reused after its block is gone. */
struct branch_step {
	uint64_t size;
	size_t event;	       /* index in the trace */
	struct gp_event other; /* of STEP_OTHER */
	uint32_t id;
	uint16_t stream, pool;
	uint8_t kind; /* enum step_kind */
};

/* The arrays are indexed by the trace's ids, except spare. */
struct ids {
	uint32_t *of;
	bool *is_kept;	 /* not reused: it may be pending after its free */
	uint32_t *spare; /* a stack */
	size_t spare_count, spare_room;
	uint32_t count, most; /* in use, without the spare ones */
};

struct reading {
	const struct gp_device_trace *trace;
	struct ids ids;
	struct gp_block *start_blocks;
	struct gp_state start;
	struct branch_step *steps;
	size_t count, at; /* number of steps; index of the next event */
};

void reading_init(struct reading *r, const struct gp_device_trace *trace);
void reading_release(struct reading *r);
/* Reads the steps of the next `events` events. Outcomes and marks are skipped,
 * except GP_SEGMENT_ALLOC, from which the device learns recorded addresses. */
void read_steps(struct reading *r, size_t events);

#endif
