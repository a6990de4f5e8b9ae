/* SPDX-License-Identifier: MIT */
/*
 * The requests of a trace, read once for all branches of a run, with ids that
 * are used again: a branch keeps a block for each.
 */
#ifndef STUDY_BRANCH_STEPS_H
#define STUDY_BRANCH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

enum step_kind { STEP_ALLOC, STEP_FREE, STEP_BOTH, STEP_OTHER };

/* A request, by few ids: one is used again when its block is gone. */
struct step {
	uint64_t size;
	size_t event;	       /* in the trace */
	struct gp_event other; /* of STEP_OTHER */
	uint32_t id;
	uint16_t stream, pool;
	uint8_t kind; /* enum step_kind */
};

/* By the trace's id, if not said otherwise. */
struct ids {
	uint32_t *of;
	bool *is_kept;	 /* it may be pending beyond its free in the trace */
	uint32_t *spare; /* a stack */
	size_t spare_count, spare_room;
	uint32_t count, most; /* that are in use, without the spare ones */
};

struct reading {
	const struct gp_device_trace *trace;
	struct ids ids;
	struct gp_block *start_blocks;
	struct gp_state start;
	struct step *steps;
	size_t count, at; /* steps, and the next event */
};

void reading_init(struct reading *r, const struct gp_device_trace *trace);
void reading_release(struct reading *r);
/* Reads the steps of so many more events; outcomes and marks request
 * nothing, but where the recording made segments is told. */
void read_steps(struct reading *r, size_t events);

#endif
