/* SPDX-License-Identifier: MIT */
/* Comparing our engine with PyTorch's own, on a single trial. */
#ifndef CONFORM_CONTRAST_H
#define CONFORM_CONTRAST_H

#include "outcome.h"
#include "trial.h"

enum verdict {
	VERDICT_EQUAL,
	VERDICT_ORDER, /* equal except for an order that PyTorch leaves open */
	VERDICT_DIFFERENT,
	/* PyTorch itself cannot be compared; equal up to that point. */
	VERDICT_ASSERTS,	  /* an assertion inside PyTorch fails */
	VERDICT_HEAP,		  /* it uses the addresses of its own objects */
	VERDICT_FREED_MEMORY,	  /* it reads a pool that it has erased */
	VERDICT_CRASHES,	  /* it corrupts its heap, and crashes */
	VERDICT_NOT_REPRODUCIBLE, /* two runs of it differ */
	VERDICT_PART_OF_SEGMENT,  /* it cudaFrees a part of a segment */
	VERDICT_NOT_TAKEN, /* that release has no such setting or request */
	VERDICT_BROKEN,	   /* the engine could not be run */
	VERDICTS,
};

struct contrast {
	enum verdict verdict;
	uint32_t device; /* ordinal */
	uint64_t event;	 /* the first that differs */
	char what[512];	 /* how, in a line */
	/* Its sort: the same for differences with the same kinds of actions and
	 * the same members. 0: counters, or the memory at the end. */
	uint32_t sort;
};

const char *verdict_name(enum verdict verdict);

struct contrast_with {
	uint8_t release;
	const char *torch_lib;
	/* Called with PyTorch's settled outcome of each device; may be NULL. */
	void (*outcome)(void *arg, const struct outcome *outcome,
			uint64_t events);
	void *arg;
};

/* The first device on which they differ, or else the last one. */
void contrast_trial(struct contrast *contrast, const struct trial *trial,
		    const struct contrast_with *with);

#endif
