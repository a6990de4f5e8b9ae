/* SPDX-License-Identifier: MIT */
/* Cutting a failing trial down to the fewest and simplest requests. */
#ifndef CONFORM_REDUCE_H
#define CONFORM_REDUCE_H

#include "trial.h"

struct reducer {
	/* Whether this trial still fails. */
	bool (*fails)(void *arg, const struct trial *trial);
	void *arg;
};

/* trial fails, and still does when it has been cut down. */
void reduce(struct trial *trial, const struct reducer *reducer);

#endif
