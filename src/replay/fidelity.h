/* SPDX-License-Identifier: MIT */
/*
 * Fidelity: how much of a recording a verification chose the same.
 */
#ifndef REPLAY_FIDELITY_H
#define REPLAY_FIDELITY_H

#include "gpupool/replay.h"
#include "replay/recorded.h"

/* Compares one alloc's answer with the recorded one. */
void fidelity_check(struct gp_fidelity *fidelity,
		    const struct recorded *recorded,
		    const struct gp_event *event, uint64_t index,
		    enum gp_answer answer, uint64_t addr);

#endif
