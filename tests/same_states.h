/* SPDX-License-Identifier: MIT */
/* Whether two states of an allocator have the same segments and blocks. */
#ifndef TESTS_SAME_STATES_H
#define TESTS_SAME_STATES_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/allocator.h"

/* One assertion for all: each writes to the test's parent. */
static inline bool same_states(const struct gp_state *a,
			       const struct gp_state *b)
{
	bool same = a->segment_count == b->segment_count &&
		    a->block_count == b->block_count;

	for (size_t i = 0; same && i < a->segment_count; i++)
		same = a->segments[i].addr == b->segments[i].addr &&
		       a->segments[i].size == b->segments[i].size &&
		       a->segments[i].pool == b->segments[i].pool;
	for (size_t i = 0; same && i < a->block_count; i++)
		same = a->blocks[i].addr == b->blocks[i].addr &&
		       a->blocks[i].requested == b->blocks[i].requested &&
		       a->blocks[i].id == b->blocks[i].id &&
		       a->blocks[i].state == b->blocks[i].state;
	return same;
}

#endif
