/* SPDX-License-Identifier: MIT */
/*
 * Goldens: what PyTorch's own allocator did in a trial, as a few hashes.
 *
 * A file tests/conform/golden/CLASS.txt has lines
 *
 *	SEED RELEASES DEEDS COUNTERS STATE
 *	17 0,1,2,4 1b2f...e0 5c21aa07 99f0b2d4
 *
 * RELEASES are minor numbers; trials that a release refuses, and those in which
 * PyTorch cannot be compared, are left out.  The hashes are hexadecimal: DEEDS
 * has four of 32 bits, of the actions of each quarter of the requests (so that
 * a mismatch shows where), COUNTERS and STATE have one each.
 */
#ifndef CONFORM_GOLDEN_H
#define CONFORM_GOLDEN_H

#include <stdio.h>

#include "outcome.h"

#define GOLDEN_QUARTERS 4

struct digest {
	uint64_t deeds[GOLDEN_QUARTERS], counters, state; /* 32 of its bits */
};

void digest_init(struct digest *digest);
/* Adds the settled outcome of a device; events: the length of its trace. */
void digest_add(struct digest *digest, const struct outcome *outcome,
		uint64_t events);

struct golden {
	uint64_t seed;
	uint32_t releases; /* one bit for each */
	struct digest digest;
};

void golden_print(const struct golden *golden, FILE *out);
bool golden_scan(struct golden *golden, const char *line);

/* Describes what differs; NULL: nothing does. */
const char *digest_difference(const struct digest *a, const struct digest *b);

#endif
