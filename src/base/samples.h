/* SPDX-License-Identifier: MIT */
/* The durations of one operation that is repeated, and their quantiles. */
#ifndef BASE_SAMPLES_H
#define BASE_SAMPLES_H

#include <stddef.h>

struct samples {
	double *us; /* in order of measurement, until sorted */
	size_t count, room;
	double total;
};

void samples_add(struct samples *samples, double us);
/* Sorts them in ascending order. */
void samples_sort(struct samples *samples);
/* The quantile of sorted samples, by nearest rank; 0.5 is the median. 0 if
 * there are none. */
double samples_at(const struct samples *samples, double share);
void samples_release(struct samples *samples);

#endif
