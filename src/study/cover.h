/* SPDX-License-Identifier: MIT */
/*
 * Cover: every value of some settings, tried in few replays.
 *
 * What one replay speaks for is taken off the space of all values (space.h),
 * until nothing is left: then it is known of every value
 * whether the trace is served under it.  Replays end at the first request
 * without memory.
 */
#ifndef STUDY_COVER_H
#define STUDY_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_cover_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	uint8_t release;
	/* What is not searched: other settings hold as they are here, and what
	 * is searched is passed over. */
	const char *conf;
	const struct gp_engine *engine;
	uint64_t capacity;   /* bytes; GP_UNLIMITED: no end */
	uint64_t large_most; /* MiB of large_segment_size_mb that are searched;
			      * 0: it is as conf has it */
	uint64_t refused;    /* requests that PyTorch's rules refuse anyhow */
	uint32_t budget;     /* replays at most */
	bool first_only;     /* done with the first that serves */
	/* Called before each replay; NULL: nobody listens. */
	void (*progress)(void *arg, uint32_t runs);
	void *progress_arg;
	bool (*is_interrupted)(void); /* NULL: never */
};

/* Settings that one replay speaks for, all of which serve the trace; they
 * may overlap. */
struct gp_cover_box {
	/* Of them the one that a person would type: what is not set rather
	 * than what is, and round numbers.  Owned. */
	char *conf;
	struct gp_alike alike; /* bytes */
};

struct gp_cover {
	struct gp_cover_box *boxes; /* that serve, in the order of finding */
	size_t count;
	uint32_t runs;
	/* Nothing is left that no run speaks for. */
	bool complete;
	bool is_interrupted;
};

/* Requests not served under any settings make every run a failure.  GP_INPUT:
 * the release does not take conf. */
enum gp_status gp_cover_search(const struct gp_cover_config *config,
			       struct gp_cover *cover, struct gp_diag *diag);
void gp_cover_release(struct gp_cover *cover);

#endif
