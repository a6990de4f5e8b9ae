/* SPDX-License-Identifier: MIT */
/* The releases of a run, and the outcomes of its trials in each. */
#ifndef CONFORM_TALLY_H
#define CONFORM_TALLY_H

#include <stdio.h>

#include "contrast.h"

#define TALLY_MOST 32

struct tally_release {
	const char *name; /* "2.15.0"; borrowed */
	uint8_t minor;
	char folder[512]; /* of its prepared engine */
	uint64_t counts[VERDICTS];
};

struct tally {
	struct tally_release releases[TALLY_MOST];
	size_t count;
	uint64_t missing; /* not prepared */
};

/* false: there is no such release, or there are too many. A release that is not
 * prepared is named on standard output, and counted. */
bool tally_add(struct tally *tally, const char *engines, const char *name);

/* Prints the last line, "N passed, N failed, N skipped"; returns main()'s exit
 * status. */
int tally_print(const struct tally *tally, FILE *out);

#endif
