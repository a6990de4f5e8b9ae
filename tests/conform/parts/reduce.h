/* SPDX-License-Identifier: MIT */
/* Cutting a failing trial down to the fewest and simplest requests. */
#ifndef CONFORM_REDUCE_H
#define CONFORM_REDUCE_H

#include "trial.h"

struct reducer {
	/* Whether this one still fails. */
	bool (*fails)(void *arg, const struct trial *trial);
	void *arg;
};

/* trial fails and, cut down, still does. */
void reduce(struct trial *trial, const struct reducer *reducer);

#endif
