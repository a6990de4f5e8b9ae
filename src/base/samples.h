/* SPDX-License-Identifier: MIT */
/* Times of one thing done often, and what they come to. */
#ifndef BASE_SAMPLES_H
#define BASE_SAMPLES_H

#include <stddef.h>

struct samples {
	double *us; /* in order, until they are sorted */
	size_t count, room;
	double total;
};

void samples_add(struct samples *samples, double us);
/* Ascending from here on. */
void samples_sort(struct samples *samples);
/* share 0.5 is the median; by nearest rank, of sorted ones.  None: 0. */
double samples_at(const struct samples *samples, double share);
void samples_release(struct samples *samples);

#endif
