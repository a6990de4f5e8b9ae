/* SPDX-License-Identifier: MIT */
/*
 * The outcome of a trial: every action and counter, and the memory at the end,
 * of one engine as one release.
 */
#ifndef CONFORM_OUTCOME_H
#define CONFORM_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"

struct deed {
	struct gp_action action;
	uint64_t event; /* the request that it answers */
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
	const char *torch_lib; /* PyTorch's own; NULL: ours */
};

/* GP_INPUT: that release does not take the settings. */
enum gp_status outcome_run(struct outcome *outcome, const struct outcome_of *of,
			   struct gp_diag *diag);
void outcome_release(struct outcome *outcome);

/*
 * Puts neighbours in the order of their addresses where PyTorch's depends on
 * the addresses of its own objects: free_completed, and segments given back.
 */
void outcome_settle(struct outcome *outcome);

bool deed_equal(const struct deed *a, const struct deed *b, uint8_t release);
/* Of the parts that a release tells. */
bool deed_has_pool(uint8_t release);

#endif
