/* SPDX-License-Identifier: MIT */
/*
 * Cutting a failing trial down: delta debugging (Zeller and Hildebrandt,
 * "Simplifying and isolating failure-inducing input", 2002) on its requests,
 * then simpler requests and settings, until nothing more can be left out.
 */
#include "reduce.h"

#include <stdlib.h>
#include "base/mem.h"
#include "simplify.h"

/* The most rounds, even if the last one still found something. */
#define ROUNDS 8

static bool is_about_block(const struct op *op)
{
	return op->kind == GP_FREE || op->kind == GP_RECORD_STREAM;
}

static uint64_t last_id(const struct trial *trial)
{
	uint64_t last = 0;

	for (size_t i = 0; i < trial->count; i++)
		if (trial->ops[i].id > last)
			last = trial->ops[i].id;
	return last;
}

/* The trial without the requests from begin to end, and without those about
 * their blocks. */
static void leave_out(struct trial *to, const struct trial *from, size_t begin,
		      size_t end)
{
	bool *is_there = gp_mem_alloc(last_id(from) + 1, sizeof(*is_there));

	trial_copy(to, from);
	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct op *op = &from->ops[i];

		if ((i >= begin && i < end) ||
		    (is_about_block(op) && !is_there[op->id]))
			continue;
		if (op->kind == GP_ALLOC)
			is_there[op->id] = true;
		trial_add(to, op);
	}
	free(is_there);
}

bool reduce_try(struct trial *trial, struct trial *smaller,
		const struct reducer *reducer)
{
	struct trial before = *trial;

	if (!reducer->fails(reducer->arg, smaller)) {
		trial_release(smaller);
		return false;
	}
	*trial = *smaller;
	trial_release(&before);
	return true;
}

static bool cut(struct trial *trial, const struct reducer *reducer, size_t step)
{
	bool has_cut = false;
	size_t end = trial->count;

	/* From the end, so that requests after the failure are removed
	 * first. */
	while (end) {
		size_t begin = end > step ? end - step : 0;
		struct trial smaller;

		leave_out(&smaller, trial, begin, end);
		has_cut |= reduce_try(trial, &smaller, reducer);
		end = begin < trial->count ? begin : trial->count;
	}
	return has_cut;
}

static bool cut_all(struct trial *trial, const struct reducer *reducer)
{
	bool has_cut = false;

	for (size_t step = (trial->count + 1) / 2; step; step /= 2)
		has_cut |= cut(trial, reducer, step);
	return has_cut;
}

/* Numbers blocks in the order of their allocs, from 1. */
static void number_anew(struct trial *trial)
{
	uint64_t next = 0;

	for (size_t i = 0; i < trial->count; i++) {
		uint64_t old = trial->ops[i].id;

		if (trial->ops[i].kind != GP_ALLOC)
			continue;
		next++;
		for (size_t k = i + 1; k < trial->count && old != next; k++) {
			struct op *op = &trial->ops[k];

			if (is_about_block(op) && op->id == old)
				op->id = next;
		}
		trial->ops[i].id = next;
	}
}

void reduce(struct trial *trial, const struct reducer *reducer)
{
	bool goes_on = true;

	for (int round = 0; round < ROUNDS && goes_on; round++) {
		goes_on = cut_all(trial, reducer);
		goes_on |= simplify(trial, reducer);
	}
	number_anew(trial);
}
