/* SPDX-License-Identifier: MIT */
/*
 * Estimates: what a whole program would reserve under other settings than the
 * recorded ones, from a trace that is a window.
 *
 * The cache at a window's start was made by the recorded settings, so a replay
 * that begins with it does not show what other settings would do.
 */
#ifndef STUDY_ESTIMATE_H
#define STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"

struct gp_estimate {
	bool is_there;
	/* Bytes: the whole program's peak of reserved memory from the start of
	 * the window on, and its bounds. */
	uint64_t reserved, low, high;
	const char *how; /* one short sentence */
};

/*
 * There is no estimate if the trace begins with an empty cache, if the settings
 * cache as the recorded ones do, or for engines other than PyTorch's caching
 * allocator. A recorded_conf that its release does not accept is replaced by
 * the defaults.
 */
enum gp_status gp_estimate(const struct gp_replay_config *what_if,
			   const char *recorded_conf, uint8_t recorded_release,
			   struct gp_estimate *estimate, struct gp_diag *diag);

/* The same of the smallest device in place of reserved memory; others: bytes of
 * it that others use. */
struct gp_estimate gp_estimate_need(const struct gp_estimate *reserved,
				    const struct gp_settings *settings,
				    uint64_t others);

/* Whether programs under both cache the same, as far as settings decide it.
 * capacity: of the device that both have; 0: unknown, so each limit counts. */
bool gp_settings_cache_alike(const struct gp_settings *a,
			     const struct gp_settings *b, uint64_t capacity);

#endif
