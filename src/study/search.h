/* SPDX-License-Identifier: MIT */
/*
 * A search of all values of the settings for those that serve all requests at a
 * capacity.
 */
#ifndef STUDY_SEARCH_H
#define STUDY_SEARCH_H

#include "study/trial.h"

struct search {
	size_t index;	 /* index of the case */
	uint32_t budget; /* most runs */
	uint32_t runs;	 /* so far; each covers all equivalent settings */
	/* Of the last call: no setting serves, and all were covered. */
	bool is_complete;
};

/* Adds a trial, with its replays, for each class of settings that serves the
 * case at its capacity. */
void search_serving(struct study_state *s, struct search *search);

/* The same with large_segment_size_mb in addition to the other settings. This
 * space is far larger, so the search is limited to a part of the budget, or to
 * as many runs as were made before, and each slice ends with the first setting
 * that serves. Does nothing if the release has no such setting. */
void search_together(struct study_state *s, struct search *search);

/* Finds the least need of all settings: adds a trial for each setting that was
 * found to need less than those before it. is_complete: none needs less.
 * together: large_segment_size_mb is searched in addition to the others, for a
 * smaller part of the budget, or for as many runs as before up to a thousand.
 */
void search_least(struct study_state *s, bool together, struct search *search);

/* For a group in which each case is served but no setting serves all: adds a
 * trial, with its replays, for each pair of settings that serves all
 * together. */
void search_pairs(struct study_state *s, struct search *search);

#endif
