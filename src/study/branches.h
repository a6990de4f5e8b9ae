/* SPDX-License-Identifier: MIT */
/*
 * Branches: the runs of a trace for a whole range of capacities, of which no
 * two do the same twice.
 *
 * All begin as one.  Where the device grants a request if it is large enough,
 * and else not, the run branches; and branches whose allocators came to be of
 * one shape (struct gp_allocator_ops) go on as one.  What is said of a capacity
 * in the end is what a replay on a device of that size tells.
 */
#ifndef STUDY_BRANCHES_H
#define STUDY_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct branches_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	/* The size of the device reaches the run by its answers, and by the
	 * addresses that expandable segments reserve, alone. */
	const struct gp_settings *settings;
	const struct gp_engine *engine;
	const char *conf;
	/* Whole multiples of GP_DEVICE_GRAIN: from <= capacity < to. */
	uint64_t from, to;
	uint64_t most_events; /* that are played, in all branches */
	size_t threads;	      /* 0: one */
	/* Called now and then; NULL: nobody listens. */
	void (*progress)(void *arg);
	void *progress_arg;
};

/* As in struct gp_replay_result, of runs that end where memory runs out. */
struct branch_facts {
	struct gp_device_reach reach;
	struct gp_device_calls calls;
	struct gp_alike alike;
	uint64_t retries, synchronizes, refused;
	uint64_t reserved, allocated; /* at most */
	bool is_out;		      /* memory ran out */
	uint64_t event;		      /* of the request, then */
};

struct branch_told {
	uint64_t from, to; /* capacities that go so: from <= capacity < to */
	struct branch_facts facts;
};

/* Ascending; where a branch was given up there is a gap. */
struct branches {
	struct branch_told *list;
	size_t count, room;
	uint64_t played; /* requests, in all branches */
};

/* Whether there is nothing in the trace that branches do not follow. */
bool branches_follow(const struct gp_trace *trace, uint32_t device);

enum gp_status branches_play(const struct branches_config *config,
			     struct branches *branches, struct gp_diag *diag);
/* NULL: it is not told. */
const struct branch_told *branches_find(const struct branches *branches,
					uint64_t capacity);
void branches_release(struct branches *branches);

#endif
