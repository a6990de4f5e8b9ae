/* SPDX-License-Identifier: MIT */
/*
 * Suggestions: the settings that people try, each replayed at the capacity,
 * and the one to use.
 *
 * The one to use runs without an out-of-memory error, takes at most twice the
 * least time in calls of the device (retries take time), and, of those that
 * then reserve about as little as any (within 1 % of the capacity), is the
 * least unusual: the first in the table.  Recorded settings that run without an
 * out-of-memory error and without a retry stay.
 *
 * Where no device's memory is known, the smallest device is the aim: the same
 * rule with 1 % of what is needed, and recorded settings stay if it chooses
 * them.
 */
#ifndef GPUPOOL_SUGGEST_H
#define GPUPOOL_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/price.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_suggest_config {
	const struct gp_trace *trace;
	uint8_t release;
	const char *conf; /* the recorded settings, which are trial 0 */
	const struct gp_engine *engine;
	const uint64_t *capacity; /* of each device, bytes; GP_UNLIMITED too */
	const struct gp_prices *prices;
	const char *const *without; /* settings that cannot be used */
	size_t without_count;
	uint32_t tries; /* struct gp_headroom_config's, for what is shown */
	void (*progress)(void *arg, uint32_t replays);
	void *progress_arg;
};

struct gp_trial {
	char *conf;		 /* owned: all of it, to be pasted */
	const char *about;	 /* NULL: as recorded */
	bool is_excluded;	 /* names a setting that cannot be used */
	char refusal[160];	 /* why that release does not take it */
	uint64_t ooms, retries;	 /* of all devices */
	uint64_t peak_reserved;	 /* largest of the devices */
	uint64_t mallocs, pages; /* calls of cudaMalloc; pages mapped */
	double time_us;		 /* of all device calls, estimated */
	struct gp_oom first_oom; /* of the first device that has one */
	/* The smallest device it runs on without an OOM, as halving finds it
	 * (the recorded one's and the chosen one's: from which on every device
	 * is fine); of the devices the one that lacks most, or has least to
	 * spare.  Known of those that may be chosen; 0: not measured.
	 * UINT64_MAX: no device is large enough. */
	uint64_t need, missing, spare;
};

enum gp_suggest_verdict {
	GP_KEEP,     /* the recorded settings are as good as any */
	GP_CHANGE,   /* trials[chosen] */
	GP_CAPACITY, /* none fits; trials[chosen] lacks least */
};

struct gp_suggestion {
	struct gp_trial *trials;
	size_t count;
	enum gp_suggest_verdict verdict;
	size_t chosen;
	size_t unconstrained; /* what would be chosen, were all allowed */
	uint64_t live;	      /* most that a device's program holds at once */
	bool is_exact;	      /* GP_CAPACITY: all capacities above are known */
	bool is_open;	      /* no memory is known, so no spare */
};

enum gp_status gp_suggest(const struct gp_suggest_config *config,
			  struct gp_suggestion *suggestion,
			  struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_suggestion_release(struct gp_suggestion *suggestion);

#endif
