/* SPDX-License-Identifier: MIT */
/* Settings of a trial: PYTORCH_CUDA_ALLOC_CONF, at its start and later. */
#ifndef CONFORM_CONF_H
#define CONFORM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dice.h"

struct conf {
	uint8_t era;	   /* settings of a later release are not used */
	unsigned bits;	   /* enum conf_bit: the settings that are there */
	uint64_t split;	   /* MiB; 0: no limit */
	uint64_t large;	   /* MiB */
	uint64_t rounding; /* MiB */
	bool is_moving;	   /* this is a change */
};

/* Throws the settings of a start: all of always, some of sometimes. */
void conf_throw(struct conf *conf, struct dice *dice, unsigned always,
		unsigned sometimes, char *text, size_t room);

/*
 * Throws a change of settings, but not one under which PyTorch gives cudaFree a
 * part of a segment: release_available_cached_blocks takes a block as large as
 * max_split_size for a whole segment, which is so only as long as that limit
 * never sinks, and as blocks of expandable segments do not stay behind.
 */
void conf_change(struct conf *conf, struct dice *dice, unsigned allowed,
		 char *text, size_t room);

#endif
