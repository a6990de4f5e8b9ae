/* SPDX-License-Identifier: MIT */
/*
 * Every value of the settings, searched: which of them serve all requests at a
 * capacity.
 */
#ifndef STUDY_SEARCH_H
#define STUDY_SEARCH_H

#include "study/trial.h"

struct search {
	size_t index;	 /* the case that is searched */
	uint32_t budget; /* runs at most */
	uint32_t runs;	 /* so far; each stands for all settings alike */
	/* Of the last call: nothing serves it, and nothing is left. */
	bool is_complete;
};

/* Adds a trial, played, for each class of settings under which the case is
 * served at that capacity; 0: its own. */
void search_serving(struct session *s, uint64_t capacity,
		    struct search *search);

/* The same at its own capacity, with large_segment_size_mb beside the other
 * settings: far more than there are without, so that a part of the budget is
 * spent on them at most, or as much as so far, and each slice ends with the
 * first that serves.  Where a release has no such setting nothing is left. */
void search_together(struct session *s, struct search *search);

/* Of the group, where each is served but no setting serves all: adds a trial,
 * played, for each two settings that do so together. */
void search_pairs(struct session *s, struct search *search);

#endif
