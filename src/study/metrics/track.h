/* SPDX-License-Identifier: MIT */
/*
 * Follows a run action by action: what is pinned by whom and for how long,
 * pending frees, memory that is released and obtained again, and the peaks of
 * the steps.
 *
 * A block's share of its segment's free bytes, summed over the events of its
 * life, is the difference of one running sum per segment between its last and
 * its first event: each action costs a search by address, and no walk over
 * blocks.
 */
#ifndef STUDY_METRICS_TRACK_H
#define STUDY_METRICS_TRACK_H

#include "study/metrics/explain.h"
#include "study/metrics/culprit.h"

struct track;

struct track *track_create(const struct gp_trace *trace, uint32_t device,
			   const struct gp_settings *settings,
			   const struct askers *askers,
			   struct gp_explain *explain);
/* For struct gp_replay_config's action. */
void track_action(void *arg, const struct gp_action *action, uint64_t event);
/* To be called after the replay; stores the results in the explain. */
void track_end(struct track *track);

#endif
