/* SPDX-License-Identifier: MIT */
/* The choice of the best of the trials of a study, for its current group. */
#ifndef STUDY_CHOICE_H
#define STUDY_CHOICE_H

#include "study/trial.h"

/* EVERYBODY: also settings that the user excluded. */
enum who { ALLOWED, EVERYBODY };

bool choice_takes_part(const struct gp_trial *trial, enum who who);

/* The best of the trials that certainly serve everything and need at most
 * limit. Settings with a warning (gp_candidate_conf, or as combined by the
 * search) are chosen only if nothing else serves. The study's count:
 * there is none. */
size_t choice_best(struct study_state *s, enum who who, uint64_t limit);

/* The largest need for which a change is advised although the present setting
 * fits. */
uint64_t choice_limit(struct study_state *s);

/* For a group of one case that nothing serves: the trial with the smallest
 * need, or estimate of it. */
size_t choice_nearest(struct study_state *s);

/* The least unusual setting that is estimated to need about as little as the
 * best one; the study's count: none is estimated to need less than the present
 * one. */
size_t choice_likely(struct study_state *s, size_t index);

#endif
