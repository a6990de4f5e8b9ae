/* SPDX-License-Identifier: MIT */
/*
 * What is known about capacities: disjoint ranges, each fine or not.
 */
#ifndef SWEEP_KNOWN_H
#define SWEEP_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_range {
	uint64_t from, to; /* from <= capacity < to */
	bool is_fine;
};

/* In ascending order. Zeroed: empty. */
struct known {
	struct known_range *ranges;
	size_t count, room;
};

void known_release(struct known *known);

/* Does not change what is known already. */
void known_add(struct known *known, uint64_t from, uint64_t to, bool is_fine);

/* The range that contains a capacity; NULL: it is unknown. */
const struct known_range *known_find(const struct known *known, uint64_t at);

/* Stores the widest unknown ranges between from and to, at most `room` of them,
 * in descending order; returns their number. */
size_t known_gaps(const struct known *known, uint64_t from, uint64_t to,
		  struct known_range *gaps, size_t room);

/* The lowest capacity below to that is fine; UINT64_MAX: none. */
uint64_t known_lowest_fine(const struct known *known, uint64_t to);

/* The highest capacity below to that is not fine; UINT64_MAX: none.
 * Capacities are multiples of grain. */
uint64_t known_highest_bad(const struct known *known, uint64_t to,
			   uint64_t grain);

#endif
