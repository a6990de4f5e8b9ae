/* SPDX-License-Identifier: MIT */
/* Simpler requests and settings of a failing trial. */
#ifndef CONFORM_SIMPLIFY_H
#define CONFORM_SIMPLIFY_H

#include "reduce.h"

/* Whether anything could be made simpler. */
bool simplify(struct trial *trial, const struct reducer *reducer);

/* Takes smaller in the place of trial if it fails too, or releases it. */
bool reduce_try(struct trial *trial, struct trial *smaller,
		const struct reducer *reducer);

#endif
