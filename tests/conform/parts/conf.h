/* SPDX-License-Identifier: MIT */
/* Settings of a trial: PYTORCH_CUDA_ALLOC_CONF, at its start and later. */
#ifndef CONFORM_CONF_H
#define CONFORM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dice.h"

struct conf {
	uint8_t era;	   /* settings of later releases are not used */
	unsigned bits;	   /* enum conf_bit: the settings in use */
	uint64_t split;	   /* MiB; 0: no limit */
	uint64_t large;	   /* MiB */
	uint64_t rounding; /* MiB */
	bool is_moving;	   /* this is a change */
};

/* Throws the settings for the start: all of always, and some of sometimes. */
void conf_throw(struct conf *conf, struct dice *dice, unsigned always,
		unsigned sometimes, char *text, size_t room);

/*
 * Throws a change of settings, except one under which PyTorch passes a part of
 * a segment to cudaFree: release_available_cached_blocks takes a block of
 * max_split_size or more for a whole segment. That is true only as long as this
 * limit is never lowered, and no blocks of expandable segments remain.
 */
void conf_change(struct conf *conf, struct dice *dice, unsigned allowed,
		 char *text, size_t room);

#endif
