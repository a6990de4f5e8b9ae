/* SPDX-License-Identifier: MIT */
/* One setting, replayed: at a capacity, and for the least that it needs. */
#ifndef STUDY_TRIAL_H
#define STUDY_TRIAL_H

#include "gpupool/study.h"

/* What is live of a case as settings with such a rounding round it. */
struct rounded_live {
	size_t index;
	uint64_t divisions[GP_DIVISIONS], bytes;
};

/* What all parts of a study share. */
struct session {
	const struct gp_study_config *config;
	struct gp_study *study;
	size_t room; /* of study->trials */
	/* By case: requests that PyTorch refuses by a rule whatever memory
	 * there is; a setting under which it refuses more does not serve
	 * them. */
	uint64_t *refused;
	bool *is_in; /* by case: it is of the group that is judged now */
	struct rounded_live *lives; /* that were asked for */
	size_t live_count, live_room;
	struct gp_diag *diag;
	enum gp_status status; /* once not GP_OK, nothing more is played */
};

/* Takes over conf; NULL: that setting is there already. */
struct gp_trial *trial_add(struct session *s, char *conf,
			   const struct gp_candidate_conf *candidate);

/* Plays every case that is not undecided at its capacity, and notes what came
 * of it. */
void trial_play(struct session *s, struct gp_trial *trial);

/* ---- of the group ---- */

bool trial_is_served(const struct session *s, const struct gp_trial *trial);
/* The same of a setting that is no trial, for which replays are made until one
 * of the group is not served. */
bool trial_serves_group(struct session *s, const char *conf);
/* Of the case that needs most; 0: not measured of all. */
uint64_t trial_need(const struct session *s, const struct gp_trial *trial);

/* Finds what each needs, unless it is known. */
void trial_measure(struct session *s, struct gp_trial *trial);
/* The same, unless one replay shows that it is more than most. */
void trial_measure_to(struct session *s, struct gp_trial *trial, uint64_t most);

/* Asks what else it may reserve where a case is a window, once. */
void trial_estimate(struct session *s, struct gp_trial *trial);
/* The most that it may need: of windows as estimated.  0: not known. */
uint64_t trial_high(struct session *s, struct gp_trial *trial);
/* Whether a trial that is served would have been, had the program run with it
 * from its start: a replay of a window begins with what other settings cached.
 */
bool trial_is_sure(struct session *s, struct gp_trial *trial);

/* What as it is reserves of that case on a device without an end; 0: not known.
 */
uint64_t trial_peak(struct session *s, size_t index);

/* Of what was there before it a trace does not tell all. */
static inline bool trial_is_of_part(const struct gp_verdict *verdict)
{
	return verdict->begins == GP_BEGINS_WINDOW || verdict->recorded;
}

/* That release takes it. */
static inline bool trial_is_possible(const struct gp_trial *trial)
{
	return !*trial->refusal;
}

#endif
