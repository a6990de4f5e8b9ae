/* SPDX-License-Identifier: MIT */
/*
 * Headroom: the smallest device on which a trace runs without an out-of-memory
 * error, and without a retry, found by replays.
 *
 * A larger device is not always better: a failure that is retried changes the
 * placement of everything after it, and garbage collection starts at a fraction
 * of the device. So the answer is the smallest capacity such that it and every
 * larger capacity that is known are fine, and the result says how much is
 * known.
 *
 * Capacities are whole multiples of GP_DEVICE_GRAIN; a device between two of
 * them behaves as the lower one. If a run depends on the size of the device in
 * no other way (is_plain), one replay is valid for every capacity that would
 * have given each request the same answer (struct gp_device_reach), so that few
 * replays cover all capacities.
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
	/* Earlier runs of this device, engine and torch_lib, to use and extend;
	 * NULL: there are none. */
	struct runs *runs;
	uint32_t tries;	 /* most replays to confirm each answer */
	uint32_t points; /* of the curve; 0: none */
	/* Only bounds[GP_NO_OOM].capacity is needed: what is below it, and
	 * GP_NO_RETRY, are not searched. */
	bool only_need;
	size_t threads; /* 0: one */
	/* Called before each replay; may be NULL. */
	void (*progress)(void *arg, uint32_t replays);
	void *progress_arg;
};

enum gp_headroom_goal { GP_NO_OOM, GP_NO_RETRY, GP_HEADROOM_GOALS };

struct gp_headroom_bound {
	bool is_there;	   /* false: no device is large enough */
	uint64_t capacity; /* bytes */
	/* The next smaller capacity, which is not fine; 0: capacity is the
	 * smallest possible. */
	uint64_t failing;
	uint64_t top; /* nothing above it was tried; see is_settled */
	/* Above capacity: the length in bytes of the widest unknown range; 0:
	 * all of them are known to be fine. */
	uint64_t unknown_above;
	/* Below capacity: the smallest one that is fine nevertheless (0: none
	 * is known), and the length of the widest unknown range. */
	uint64_t fine_below, unknown_below;
};

struct gp_headroom_point {
	uint64_t capacity;
	uint64_t ooms, retries, peak_reserved;
	bool has_room;	 /* gp_replay_has_room */
	bool is_refused; /* more than without a limit: GP_REFUSED_BY_RULE */
	struct gp_device_calls calls;
	int64_t synchronizes; /* for gp_price_of() */
};

struct gp_headroom {
	/* Independent of settings: the peak of live bytes, in blocks of whole
	 * 512 bytes; the peak of others' memory; and the smallest capacity that
	 * was considered, which is needed for live memory and the start
	 * state. */
	uint64_t live, other, least;
	uint64_t start_reserved; /* of a window: reserved at its start */
	/* The recorded program had an OOM at event recorded_oom and continued:
	 * what it would have requested otherwise is not in the trace. */
	bool goes_on_after_oom;
	uint64_t recorded_oom;
	/* Of the run without a limit: nothing is refused from this capacity
	 * on. */
	uint64_t unlimited;
	uint64_t peak_allocated;
	uint64_t refused; /* requests refused by PyTorch's rules all the same */
	/* The run depends on the device's size only through its answers and the
	 * addresses that expandable segments reserve: there is no memory limit
	 * and no garbage collection that depends on it. */
	bool is_plain;
	/* All devices above the bounds' top behave as if there were no
	 * limit. */
	bool is_settled;
	struct gp_headroom_bound bounds[GP_HEADROOM_GOALS];
	struct gp_headroom_point *points; /* ascending */
	size_t point_count;
	uint32_t replays; /* made for this device, including earlier ones */
};

enum gp_status gp_headroom(const struct gp_headroom_config *config,
			   struct gp_headroom *headroom, struct gp_diag *diag);
/* Accepts a zeroed struct. */
void gp_headroom_release(struct gp_headroom *headroom);

#endif
