/* SPDX-License-Identifier: MIT */
/*
 * Branches: the runs of a trace for a whole range of capacities, without
 * repeating the work that they have in common.
 *
 * All runs begin as one. When a request is granted by the larger devices and
 * refused by the smaller ones, the run splits into two branches; when the
 * allocators of two branches reach the same shape (struct gp_allocator_ops),
 * the branches merge. The facts about a capacity are the same as those of a
 * replay on a device of that size.
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
	/* The run must depend on the size of the device only through the
	 * device's answers and the length of expandable segments'
	 * reservations. */
	const struct gp_settings *settings;
	const struct gp_engine *engine;
	const char *conf;
	/* Whole multiples of GP_DEVICE_GRAIN: from <= capacity < to. */
	uint64_t from, to;
	uint64_t most_events; /* most events to run, in all branches together */
	size_t threads;	      /* 0: one */
	/* Called now and then; may be NULL. */
	void (*progress)(void *arg);
	void *progress_arg;
};

/* As in struct gp_replay_result, for a run that ends at the first OOM. */
struct branch_facts {
	struct gp_device_reach reach;
	struct gp_device_calls calls;
	struct gp_alike alike;
	uint64_t retries, synchronizes, refused;
	uint64_t reserved, allocated; /* peaks */
	bool is_out;		      /* there was an OOM */
	uint64_t event;		      /* index of the request that failed */
};

struct branch_result {
	uint64_t from, to; /* from <= capacity < to */
	struct branch_facts facts;
};

/* In ascending order, with gaps where branches were given up. */
struct branches {
	struct branch_result *list;
	size_t count, room;
	uint64_t played; /* requests, in all branches */
};

/* Whether the trace has only what branches support. */
bool branches_follow(const struct gp_trace *trace, uint32_t device);

enum gp_status branches_play(const struct branches_config *config,
			     struct branches *branches, struct gp_diag *diag);
/* NULL: nothing is known about that capacity. */
const struct branch_result *branches_find(const struct branches *branches,
					  uint64_t capacity);
void branches_release(struct branches *branches);

#endif
