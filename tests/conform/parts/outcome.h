/* SPDX-License-Identifier: MIT */
/*
 * The outcome of a trial: every action and counter, and the memory at the end,
 * for one engine as one release.
 */
#ifndef CONFORM_OUTCOME_H
#define CONFORM_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"

struct deed {
	struct gp_action action;
	uint64_t event; /* the request that caused it */
};

struct outcome {
	struct deed *deeds; /* owned */
	size_t count, room;
	struct gp_replay_result result;
	uint8_t release;
};

struct outcome_of {
	const struct gp_trace *trace;
	uint32_t device; /* index */
	uint8_t release;
	const char *torch_lib; /* PyTorch's own; NULL: gpupool's */
};

/* GP_INPUT: that release refuses the settings. */
enum gp_status outcome_run(struct outcome *outcome, const struct outcome_of *of,
			   struct gp_diag *diag);
void outcome_release(struct outcome *outcome);

/*
 * Sorts neighbours by address where PyTorch's order depends on the addresses of
 * its own objects: free_completed, and released segments.
 */
void outcome_settle(struct outcome *outcome);

bool deed_equal(const struct deed *a, const struct deed *b, uint8_t release);
/* Includes only what a release reports. */
bool deed_has_pool(uint8_t release);

#endif
