/* SPDX-License-Identifier: MIT */
/* A trial: one setting, replayed at the given capacities, and its need. */
#ifndef STUDY_TRIAL_H
#define STUDY_TRIAL_H

#include "gpupool/study.h"

/* Peak of a case's live memory, rounded with these divisions. */
struct rounded_live {
	size_t index;
	uint64_t divisions[GP_DIVISIONS], bytes;
};

/* State shared by all parts of a study. */
struct study_state {
	const struct gp_study_config *config;
	struct gp_study *study;
	size_t room; /* of study->trials */
	/* By case: requests that PyTorch's rules refuse however much memory
	 * there is. A setting that refuses more does not serve the case. */
	uint64_t *refused;
	bool *is_in;		    /* by case: part of the current group */
	struct rounded_live *lives; /* computed so far */
	size_t live_count, live_room;
	struct gp_diag *diag;
	enum gp_status status; /* if not GP_OK, no more replays are made */
};

/* Whether that setting must not be used: config.without. */
bool trial_must_not(const struct study_state *s, const char *conf);
/* Takes ownership of conf; NULL: there is a trial of that setting already. */
struct gp_trial *trial_add(struct study_state *s, char *conf,
			   const struct gp_candidate_conf *candidate);

/* Replays every case that is to be played at its capacity, and stores the
 * results. */
void trial_play(struct study_state *s, struct gp_trial *trial);
/* The same for all trials, on as many threads as are allowed. */
void trials_play(struct study_state *s);

/* ---- for the current group ---- */

bool trial_is_served(const struct study_state *s, const struct gp_trial *trial);
/* The same for a setting without a trial; replays are made until a case of the
 * group is not served. */
bool trial_serves_group(struct study_state *s, const char *conf);
/* The need of the case that needs most; 0: not all were measured. */
uint64_t trial_need(const struct study_state *s, const struct gp_trial *trial);

/* Measures the need of each case, unless it is known. */
void trial_measure(struct study_state *s, struct gp_trial *trial);
/* The same, unless a single replay shows that the need is above `most`. */
void trial_measure_to(struct study_state *s, struct gp_trial *trial,
		      uint64_t most);

/* Whether what may be reserved of the capacity is less than live memory as the
 * settings round it: then no settings with this rounding serve every
 * request. */
bool trial_is_below_live(struct study_state *s,
			 const struct gp_settings *settings, size_t index,
			 uint64_t capacity);

/* Estimates the need of cases that are windows, once. */
void trial_estimate(struct study_state *s, struct gp_trial *trial);
/* An upper bound of the need: of windows as estimated. 0: not known. */
uint64_t trial_high(struct study_state *s, struct gp_trial *trial);
/* Whether a trial that is served would certainly be served if the program ran
 * with it from its start; a replay of a window begins with what other settings
 * cached. */
bool trial_is_sure(struct study_state *s, struct gp_trial *trial);

/* What the present setting reserves for that case on a device without limit; 0:
 * not known. */
uint64_t trial_peak(struct study_state *s, size_t index);

/* Whether replays of the case show anything about its capacity. */
static inline bool trial_is_played(const struct gp_verdict *verdict)
{
	return verdict->kind != GP_VERDICT_UNDECIDED && !verdict->is_unplayable;
}

/* Whether the trace does not contain all of the program before its start. */
static inline bool trial_is_of_part(const struct gp_verdict *verdict)
{
	return verdict->begins == GP_BEGINS_WINDOW || verdict->recorded;
}

/* Whether the release accepts the setting. */
static inline bool trial_is_possible(const struct gp_trial *trial)
{
	return !*trial->refusal;
}

#endif
