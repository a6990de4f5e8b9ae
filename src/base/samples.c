/* SPDX-License-Identifier: MIT */
/* The durations of one operation that is repeated, and their quantiles. */
#include "base/samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void samples_add(struct samples *samples, double us)
{
	GP_GROW(samples->us, samples->count + 1, samples->room);
	samples->us[samples->count++] = us;
	samples->total += us;
}

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void samples_sort(struct samples *samples)
{
	if (samples->count)
		qsort(samples->us, samples->count, sizeof(*samples->us),
		      ascending);
}

double samples_at(const struct samples *samples, double share)
{
	double rank = ceil(share * (double)samples->count);

	if (!samples->count)
		return 0;
	return samples->us[rank < 1 ? 0 : (size_t)rank - 1];
}

void samples_release(struct samples *samples)
{
	free(samples->us);
	*samples = (struct samples){ 0 };
}
