/* SPDX-License-Identifier: MIT */
/* The classes of trials, one row each with what it covers. */
#ifndef CONFORM_CLASSES_H
#define CONFORM_CLASSES_H

#include <stddef.h>
#include <stdint.h>

/* Settings; the order is that of the table in conf.c. */
enum conf_bit {
	CONF_SPLIT = 1 << 0,
	CONF_NON_SPLIT_ROUNDING = 1 << 1,
	CONF_GC = 1 << 2,
	CONF_ROUNDUP = 1 << 3,
	CONF_EXPANDABLE = 1 << 4,
	CONF_LARGE_SEGMENT = 1 << 5,
	CONF_FRACTION = 1 << 6,
	CONF_THROW = 1 << 7,
	CONF_RESERVE = 1 << 8,
	CONF_ALL = (1 << 9) - 1,
	CONF_REUSE = 1 << 9, /* has an effect in captures only */
};

enum feature {
	FEW_STREAMS = 1 << 0,
	MANY_STREAMS = 1 << 1,
	TIGHT = 1 << 2,	      /* little memory, so requests fail */
	OTHERS = 1 << 3,      /* others use the device too, more or less */
	LIMIT = 1 << 4,	      /* a memory fraction from the start */
	LIMIT_MOVES = 1 << 5, /* and it changes during the trial */
	POOLS = 1 << 6,	      /* routing to private pools */
	POOL_FLAGS = 1 << 7,  /* MemPool objects, use_on_oom, no_split */
	CONF_MOVES = 1 << 8,  /* settings change during the trial */
	DEVICES = 1 << 9,     /* several */
	RESETS = 1 << 10,     /* of peaks and of accumulated counters */
	LONG = 1 << 11,	      /* thousands of requests */
	BOUNDARIES = 1 << 12, /* mostly sizes near a limit */
	CAPTURES = 1 << 13,   /* CUDA graphs */
	FILLS = 1 << 14,      /* requests for about the memory that is left */
	SHORT = 1 << 15,      /* tens of requests */
	OF_STREAMS = 1 << 16, /* captures name theirs; streams wait */
};

struct trial_class {
	const char *name;
	const char *sentence;
	unsigned always, sometimes; /* enum conf_bit */
	unsigned has, may_have;	    /* enum feature */
};

const struct trial_class *trial_class_table(size_t *count);
const struct trial_class *trial_class_find(const char *name);
/* In a run that names no class, these take turns. */
const struct trial_class *trial_class_of_seed(uint64_t seed);

#endif
