/* SPDX-License-Identifier: MIT */
/* The releases of a run, and how its trials came out in each. */
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

/* false: that is no release, or one too many.  One that is not prepared is
 * told on standard output and counted. */
bool tally_add(struct tally *tally, const char *engines, const char *name);

/* The last line is "N passed, N failed, N skipped"; what main returns. */
int tally_print(const struct tally *tally, FILE *out);

#endif
