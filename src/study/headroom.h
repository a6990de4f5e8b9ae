/* SPDX-License-Identifier: MIT */
/*
 * Headroom: the smallest device on which a trace runs without an out-of-memory
 * error, and without a retry, found by replaying it.
 *
 * A larger device is not always a better one: what fails and is retried changes
 * where everything after it goes, and garbage collection starts at a share of
 * the device.  So the answer is the smallest capacity from which on every
 * capacity that is known is fine, and the result tells how well that is known.
 *
 * Capacities are whole multiples of GP_DEVICE_GRAIN; a device between two of
 * them behaves as the lower one does.  Where a run asks the size of the device
 * nowhere else (is_plain), one replay tells about every capacity
 * that would have given each request the same answer (struct gp_device_reach),
 * so that all of them can be known from few replays.
 */
#ifndef STUDY_HEADROOM_H
#define STUDY_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "study/runs.h"

struct gp_headroom_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	const struct gp_settings *settings;
	const struct gp_engine *engine;
	const char *conf, *torch_lib; /* as in struct gp_allocator_config */
	const uint64_t *places;	      /* likewise */
	/* Of this device, engine and torch_lib, to be asked and added to; NULL:
	 * there are none yet. */
	struct runs *runs;
	uint32_t tries;	 /* replays at most to confirm each answer */
	uint32_t points; /* of the curve; 0: none */
	/* Only bounds[GP_NO_OOM].capacity is asked for: what is below it, and
	 * GP_NO_RETRY, are not searched. */
	bool only_need;
	size_t threads; /* that make runs; 0: one */
	/* Called before each replay; NULL: nobody listens. */
	void (*progress)(void *arg, uint32_t replays);
	void *progress_arg;
};

enum gp_headroom_goal { GP_NO_OOM, GP_NO_RETRY, GP_HEADROOM_GOALS };

struct gp_headroom_bound {
	bool is_there;	   /* false: no device is large enough */
	uint64_t capacity; /* bytes */
	/* The next smaller one, which is not fine; 0: the smallest possible. */
	uint64_t failing;
	uint64_t top; /* from here on nothing was tried; see is_settled */
	/* Above capacity, the widest run of capacities that are not known, in
	 * bytes; 0: all of them are known to be fine. */
	uint64_t unknown_above;
	/* Below it: the smallest that is fine all the same (0: none is known),
	 * and what is not known there. */
	uint64_t fine_below, unknown_below;
};

struct gp_headroom_point {
	uint64_t capacity;
	uint64_t ooms, retries, peak_reserved;
	bool has_room; /* gp_replay_has_room */
	struct gp_device_calls calls;
	int64_t synchronizes; /* gp_price_of's */
};

struct gp_headroom {
	/* What no setting changes: the most the program holds at once, bytes
	 * in blocks of whole 512; what others use at most; and the smallest
	 * capacity that was considered, where those and the start state fit. */
	uint64_t live, other, least;
	uint64_t start_reserved; /* of a window: there when it begins */
	/* The recorded program was refused memory at that event and went on:
	 * what it would have asked for otherwise is not in the trace. */
	bool goes_on_after_oom;
	uint64_t recorded_oom;
	/* The run without a limit: nothing is refused from this capacity on. */
	uint64_t unlimited;
	uint64_t peak_allocated;
	uint64_t refused; /* requests, by PyTorch's rules, even so */
	/* The device's size reaches the run only through its answers and the
	 * addresses that expandable segments reserve: no memory limit and no
	 * garbage collection follows it. */
	bool is_plain;
	/* All devices above the bounds' top are like those with no limit. */
	bool is_settled;
	struct gp_headroom_bound bounds[GP_HEADROOM_GOALS];
	struct gp_headroom_point *points; /* ascending */
	size_t point_count;
	uint32_t replays; /* that were made of the device, also before */
};

enum gp_status gp_headroom(const struct gp_headroom_config *config,
			   struct gp_headroom *headroom, struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_headroom_release(struct gp_headroom *headroom);

#endif
