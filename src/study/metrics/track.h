/* SPDX-License-Identifier: MIT */
/*
 * A run followed action by action: who pins how much for how long, what
 * waits, what is given back and asked for again, and the steps' peaks.
 *
 * A block's share of the free bytes of its segment, summed over the events of
 * its life, is the growth of one sum per segment between its first and its
 * last event: each action costs a search by address and no walk.
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
/* For struct gp_replay_config. */
void track_action(void *arg, const struct gp_action *action, uint64_t event);
/* After the replay; what was found goes to the explain. */
void track_end(struct track *track);

#endif
