/* SPDX-License-Identifier: MIT */
/*
 * A verification: a device that answers as the recording's did, how much of the
 * recording came out the same, and what the rest shows of its start.
 */
#ifndef REPLAY_RECORDED_H
#define REPLAY_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/replay.h"
#include "gpupool/trace.h"

/*
 * ---- the recorded device ----
 *
 * It answers what the recording's device answered.
 *
 * A verification asks it for memory as it would ask a real device.  The answer
 * is read from the outcomes that stand around the request: the next
 * segment_alloc's address if one of that size was recorded here; "out of
 * memory" if the recording had to free segments first, or gave up.
 */

/* What the recording and the engine did not agree on. */
enum recorded_surprise {
	RECORDED_AGREES,
	RECORDED_NO_SEGMENT, /* one was asked for, none was recorded */
	RECORDED_OTHER_SIZE,
};

struct recorded {
	struct gp_device device;
	const struct gp_event *events;
	size_t at, stop; /* outcomes of the request under way */
	uint64_t total;	 /* bytes; what info tells */
	uint64_t spare;	 /* addresses for what was not recorded */
	enum recorded_surprise surprise; /* the first of this request */
	uint64_t asked, had;		 /* sizes, of the surprise */
	uint64_t segments; /* recorded ones handed out, this request */
};

void recorded_init(struct recorded *recorded,
		   const struct gp_device_trace *trace, uint64_t total);

/* The outcomes that belong to the next request. */
void recorded_aim(struct recorded *recorded, size_t at, size_t stop);

/* A segment_alloc or segment_map that nobody asked for is still there. */
bool recorded_has_segment(const struct recorded *recorded);

/* Behind what an empty_cache before `at` gave back. */
size_t recorded_end_of_returns(const struct gp_device_trace *trace, size_t at);

/* ---- fidelity ---- */

/* Compares one alloc's answer with the recorded one. */
void fidelity_check(struct gp_fidelity *fidelity,
		    const struct recorded *recorded,
		    const struct gp_event *event, uint64_t index,
		    enum gp_answer answer, uint64_t addr);

/*
 * ---- the age of the segments a window starts with ----
 *
 * From 2.13 on, of equal free blocks that of the oldest segment is taken, and a
 * snapshot does not tell how old its segments are.  Address order is the first
 * guess; each verified alloc that took an equal block of another segment shows
 * which of the two is older.
 */

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
