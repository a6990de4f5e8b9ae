/* SPDX-License-Identifier: MIT */
/*
 * The age of the segments a window starts with.
 *
 * From 2.13 on, of equal free blocks that of the oldest segment is taken, and a
 * snapshot does not tell how old its segments are.  Address order is the first
 * guess; each verified alloc that took an equal block of another segment shows
 * which of the two is older.
 */
#ifndef REPLAY_ORDER_H
#define REPLAY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"

/* Two start segments, by index. */
struct order_lesson {
	uint32_t older, younger;
};

struct order {
	/* By start segment: 0 is the oldest.  NULL: by address. */
	uint32_t *ranks;
	size_t count;
	struct order_lesson *lessons;
	size_t lesson_count, lesson_room;
};

/* Free blocks that could have been taken, best first. */
#define MOST_CANDIDATES 1024
struct candidates {
	struct gp_candidate list[MOST_CANDIDATES];
	size_t count;
};

/* Puts what a mismatch shows into the order; false: it shows nothing. */
bool order_learn(struct order *order, const struct gp_state *start,
		 const struct gp_mismatch *mismatch,
		 const struct candidates *candidates);
void order_release(struct order *order);

#endif
