/* SPDX-License-Identifier: MIT */
/*
 * Estimates: what a program reserves under settings that it was not recorded
 * under, where the trace is a window.
 *
 * What is cached at a window's start was cached under the recorded settings, so
 * that a replay from there is no answer about others.
 */
#ifndef STUDY_ESTIMATE_H
#define STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"

struct gp_estimate {
	bool is_there;
	/* Bytes: the highest reserved from the window's first moment on, of the
	 * whole program. */
	uint64_t reserved, low, high;
	const char *how; /* one short sentence */
};

/*
 * None is there where the trace begins with nothing cached, where the settings
 * cache as the recorded ones do, and for engines other than PyTorch's caching
 * one.  recorded_conf that its release refuses is taken for the defaults.
 */
enum gp_status gp_estimate(const struct gp_replay_config *what_if,
			   const char *recorded_conf, uint8_t recorded_release,
			   struct gp_estimate *estimate, struct gp_diag *diag);

#endif
