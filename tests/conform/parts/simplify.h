/* SPDX-License-Identifier: MIT */
/* Simpler requests and settings of a failing trial. */
#ifndef CONFORM_SIMPLIFY_H
#define CONFORM_SIMPLIFY_H

#include "reduce.h"

/* Whether anything could be simplified. */
bool simplify(struct trial *trial, const struct reducer *reducer);

/* Replaces trial by smaller if that fails too; otherwise releases smaller. */
bool reduce_try(struct trial *trial, struct trial *smaller,
		const struct reducer *reducer);

#endif
