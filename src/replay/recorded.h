/* SPDX-License-Identifier: MIT */
/*
 * For verification: a device that answers as the recording's did, the
 * comparison with the recording, and what a mismatch shows about the start
 * state.
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
 * It gives the answers of the recording's device.
 *
 * In a verification the engine asks it for memory as it would ask a real
 * device. The answer is taken from the recorded outcomes around the request:
 * the address of the next segment_alloc, if one was recorded here; "out of
 * memory", if the recording then released segments or failed.
 */

/* How the engine's request to the device differs from the recording. */
enum recorded_surprise {
	RECORDED_AGREES,
	RECORDED_NO_SEGMENT, /* the engine requested one, none was recorded */
	RECORDED_OTHER_SIZE,
};

/* Reserved addresses, and what kind of segments they are for. */
struct recorded_range {
	uint64_t addr, size;
	uint16_t stream, pool;
	bool is_small;
};

struct recorded {
	struct gp_device device;
	const struct gp_event *events;
	size_t count;
	size_t at, stop; /* outcomes of the current request */
	uint64_t total;	 /* bytes; for cudaMemGetInfo */
	uint64_t spare;	 /* next address for what was not recorded */
	enum recorded_surprise surprise; /* the first of this request */
	uint64_t asked, had;		 /* sizes of the first surprise */
	uint64_t segments; /* recorded ones returned to this request */
	const struct gp_state *start;
	struct recorded_range *ranges; /* in order of address */
	size_t range_count, range_room;
};

void recorded_init(struct recorded *recorded,
		   const struct gp_device_trace *trace, uint64_t total);

/* Sets the range of outcomes that belong to the next request. */
void recorded_aim(struct recorded *recorded, size_t at, size_t stop);

/* Returns the index after the releases of an empty_cache. */
size_t recorded_end_of_returns(const struct gp_device_trace *trace,
			       size_t empty_cache);

/* ---- fidelity ---- */

/* Compares the answer to an alloc with the recorded one. */
void fidelity_check(struct gp_fidelity *fidelity,
		    const struct recorded *recorded,
		    const struct gp_event *event, uint64_t index,
		    enum gp_answer answer, uint64_t addr);

/*
 * ---- the age of the start state's segments ----
 *
 * Since release 2.13, of several free blocks of equal size the one in the
 * oldest segment is taken, and a snapshot does not contain the age of segments.
 * The first guess is address order; each recorded alloc that took an equal
 * block of another segment than the replay shows which of the two segments is
 * older.
 */

/* Indices of two segments of the start state. */
struct order_lesson {
	uint32_t older, younger;
};

struct order {
	/* By segment of the start state: 0 is the oldest. NULL: in order of
	 * address. */
	uint32_t *ranks;
	size_t count;
	struct order_lesson *lessons;
	size_t lesson_count, lesson_room;
};

/* Free blocks that a request could have taken, best first. */
#define MOST_CANDIDATES 1024
struct candidates {
	struct gp_candidate list[MOST_CANDIDATES];
	size_t count;
};

/* Updates the order from a mismatch; false: the mismatch shows nothing about
 * it. */
bool order_learn(struct order *order, const struct gp_state *start,
		 const struct gp_mismatch *mismatch,
		 const struct candidates *candidates);
void order_release(struct order *order);

#endif
