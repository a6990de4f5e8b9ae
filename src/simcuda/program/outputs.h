/* SPDX-License-Identifier: MIT */
/* What calls of CUDA's libraries write through their parameters. */
#ifndef SIMCUDA_PROGRAM_OUTPUTS_H
#define SIMCUDA_PROGRAM_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers, each behind the other's parameter; 0 is what they become. */
struct outputs {
	const char *pattern; /* of names, as fnmatch has it */
	unsigned char first; /* which parameter, from 1; not the second */
	unsigned char count, bytes;
};

/* NULL: none is known. */
const struct outputs *outputs_of(const char *name);

/* Whether the call only computes or sets something. */
bool outputs_does_nothing(const char *name);

#endif
