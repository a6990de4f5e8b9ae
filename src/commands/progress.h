/* SPDX-License-Identifier: MIT */
/*
 * What a person at a terminal sees while a run takes longer than a second: one
 * line on standard error, gone when the run is.
 */
#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/readers.h"

struct gp_progress {
	bool is_on, is_shown;
	uint64_t max_input; /* passed along: how much may be read (input.h) */
	bool is_of_host;    /* passed along: of which memory */
	struct gp_unknown_input unknown; /* passed along */
	double start, last;		 /* seconds */
};

struct gp_options;
struct gp_progress gp_progress_make(const struct gp_options *options);

/* struct gp_input_config's; arg is a struct gp_progress. */
void gp_progress_read(void *arg, uint64_t done, uint64_t total);

/* A longer step begins. */
void gp_progress_step(struct gp_progress *progress, const char *what);

/* Many equal steps: how many are done, how fast, and the time left. Time counts
 * from the restart. */
void gp_progress_restart(struct gp_progress *progress);
void gp_progress_count(struct gp_progress *progress, uint64_t done,
		       uint64_t total);

void gp_progress_end(struct gp_progress *progress);

/* Seconds, from a monotonic clock. */
double gp_progress_now(void);

#endif
