/* SPDX-License-Identifier: MIT */
/*
 * The recorded device: answers what the recording's device answered.
 *
 * A verification asks it for memory as it would ask a real device.  The answer
 * is read from the outcomes that stand around the request: the next
 * segment_alloc's address if one of that size was recorded here; "out of
 * memory" if the recording had to free segments first, or gave up.
 */
#ifndef REPLAY_RECORDED_H
#define REPLAY_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/trace.h"

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

#endif
