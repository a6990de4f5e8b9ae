/* SPDX-License-Identifier: MIT */
/* --vary NAME=FIRST..LAST: runs a program with several values of something, to
 * find the largest that fits. */
#ifndef COMMANDS_VARY_H
#define COMMANDS_VARY_H

#include "commands/options.h"
#include "report/report.h"

struct gp_vary {
	char name[64];
	uint64_t first, last;
	struct gp_vary_point *points; /* owned, with their paths; by value */
	size_t count, room;
};

/* Parses the options' --vary, and checks that the command has a place for the
 * value. */
enum gp_status gp_vary_parse(struct gp_vary *vary,
			     const struct gp_options *options,
			     struct gp_diag *diag);
void gp_vary_release(struct gp_vary *vary);

/* The options with a value in place of "{NAME}", to be released with
 * gp_vary_options_release. */
struct gp_options gp_vary_options(const struct gp_vary *vary,
				  const struct gp_options *options,
				  uint64_t value);
void gp_vary_options_release(struct gp_options *options);

/*
 * Measures the first value, then doubles it until one does not fit, and then
 * bisects between the last two. measure sets all members of the point except
 * its value; its texts are owned. What was measured is kept on failure.
 */
enum gp_status gp_vary_search(
	struct gp_vary *vary,
	enum gp_status (*measure)(void *arg, struct gp_vary_point *point,
				  struct gp_diag *diag),
	void *arg, struct gp_diag *diag);

#endif
