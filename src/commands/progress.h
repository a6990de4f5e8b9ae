/* SPDX-License-Identifier: MIT */
/*
 * Progress for a person at a terminal: while a run takes longer than a second,
 * a line on standard error, which is erased at the end.
 */
#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/readers.h"

struct gp_progress {
	bool is_on, is_shown;
	uint64_t max_input; /* passed along: how much may be read (input.h) */
	bool is_of_host;    /* passed along: whether memory is the host's */
	struct gp_unknown_input unknown; /* passed along */
	double start, last;		 /* seconds */
};

struct gp_options;
struct gp_progress gp_progress_make(const struct gp_options *options);

/* For struct gp_input_config; arg is a struct gp_progress. */
void gp_progress_read(void *arg, uint64_t done, uint64_t total);

/* A long step begins. */
void gp_progress_step(struct gp_progress *progress, const char *what);

/* For many equal steps: shows how many are done, how fast, and the time left,
 * counted from the restart. */
void gp_progress_restart(struct gp_progress *progress);
void gp_progress_count(struct gp_progress *progress, uint64_t done,
		       uint64_t total);

void gp_progress_end(struct gp_progress *progress);

/* Seconds, from a monotonic clock. */
double gp_progress_now(void);

#endif
