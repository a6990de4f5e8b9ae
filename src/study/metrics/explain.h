/* SPDX-License-Identifier: MIT */
/*
 * Explains why reserved memory is not usable: where the gap between reserved
 * and allocated is, which live blocks pin it, what it would have been under
 * other settings, and what it cost.
 *
 * One device's trace is replayed several times: as given, with observation, and
 * once for each attempt. All results are measured; there are no heuristics.
 */
#ifndef STUDY_METRICS_EXPLAIN_H
#define STUDY_METRICS_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "trace/steps.h"
#include "gpupool/trace.h"

/* ---- the gap at one moment ---- */

/* Why bytes are reserved but not allocated; each byte has exactly one
 * reason. */
enum gp_gap_reason {
	GP_GAP_HELD,   /* in segments or pages pinned by live blocks */
	GP_GAP_CACHED, /* whole segments or pages: released on demand */
	GP_GAP_POOL,   /* the same, but only usable by a private pool */
	/* Blocks whose free is pending, and the free bytes of pages that only
	 * those pin. */
	GP_GAP_WAITING,
	GP_GAP_REASONS,
};

struct gp_gap_part {
	uint64_t bytes, blocks, largest;
};

struct gp_gap {
	uint64_t reserved, allocated;
	uint64_t bytes; /* reserved - allocated; the sum of the parts */
	struct gp_gap_part by_reason[GP_GAP_REASONS];
	struct gp_gap_part by_class[GP_SIZE_CLASSES];
	struct gp_gap_part small, large;	 /* by kind of pool */
	struct gp_gap_part *by_stream, *by_pool; /* by index in the trace */
	uint64_t requested; /* of active blocks, including pending frees */
	/* Parts of what is allocated: */
	uint64_t rounding; /* sizes rounded up */
	uint64_t unsplit;  /* rest of larger blocks that were not split */
};

/* ---- what pins it, at one moment ---- */

/*
 * A unit of memory that can only be returned to the device as a whole: a
 * segment, or a page of an expandable one. Live blocks in it pin its free
 * bytes. Pending frees do not, because releasing memory waits for them.
 */
struct gp_unit {
	uint64_t addr, size;
	uint64_t free;			/* bytes */
	uint32_t segment;		/* index in the state's segments */
	bool is_page;			/* of that, which is expandable */
	uint32_t first_holder, holders; /* range in gp_pins.holders */
};

struct gp_holder {
	uint32_t id;
	uint64_t addr, size, requested; /* of the block */
	uint32_t unit;
	uint64_t share; /* its share of the unit's free bytes */
};

struct gp_pins {
	struct gp_unit *units; /* pinned units, most free bytes first */
	size_t unit_count;
	struct gp_holder *holders;
	size_t holder_count;
};

/* ---- culprits: groups of blocks ---- */

enum gp_hold_by {
	GP_HOLD_BY_SITE, /* by size if no site is known */
	GP_HOLD_BY_SIZE, /* power of two of the requested size */
	GP_HOLD_BY_STREAM,
	GP_HOLD_BY_POOL,
	GP_HOLD_BY_CATEGORY, /* as known from record */
	GP_HOLD_BY_MODULE,
	GP_HOLD_BYS,
};

struct gp_culprit {
	uint32_t site;	       /* GP_NO_SITE: by size */
	uint16_t stream, pool; /* of one of its blocks */
	struct gp_owner owner; /* of one of its blocks */
	uint32_t index;	       /* index among all culprits of the run */
	/* Requested bytes of the smallest and largest block. */
	uint64_t least, most;
	uint64_t blocks;
	uint64_t units; /* units pinned; at one moment only */
	uint64_t pages; /* of these */
	uint64_t bytes; /* bytes pinned, at the moment or on average */
	/* Duration in events; at one moment, the age of the oldest block. */
	uint64_t events;
	double byte_events; /* over the whole trace */
	bool from_start;    /* some are in the start state */
};

struct gp_culprits {
	struct gp_culprit *list; /* those that pin most come first */
	size_t count;
};

/* ---- over the whole trace ---- */

/* Memory released during one request. */
struct gp_release {
	uint64_t event, bytes, segments;
	uint64_t paid_again; /* bytes obtained again within the step */
	uint32_t site;
};
struct gp_releases {
	struct gp_release *list;
	size_t count, room;
	uint64_t bytes, paid_again;
};

struct gp_waiting {
	uint64_t frees; /* number of pending frees */
	uint64_t peak;	/* peak of pending bytes */
	uint64_t peak_event;
	double byte_events; /* bytes x events while pending */
};

/* ---- attempts other than settings (for those: gpupool/study.h) ---- */

struct gp_attempt {
	char name[64];	/* "all work on one stream" */
	char flag[160]; /* shell syntax: "--merge-streams" */
	/* serves: the request that failed first is served */
	bool no_oom, serves;
	uint64_t oom_event; /* only if not no_oom */
	uint64_t peak_reserved, peak_allocated;
	uint64_t retries, ooms, mallocs_and_pages;
};

/* A request that found no memory, in addition to its gp_oom: the bytes needed
 * by it, by live blocks and by requests that failed before it, in multiples of
 * 512 bytes; and the bytes available. */
struct gp_failure {
	uint64_t needed, available;
	bool is_too_small; /* needed > available: no setting can help */
};

/* The smallest set of live bytes whose segments, if free, would have served the
 * first request that failed; segments == 0: there is none. */
struct gp_relief {
	/* False for expandable segments, and if only old segments are released,
	 * as in a capture with garbage_collection_threshold. */
	bool is_told;
	uint64_t segments, blocks, bytes;
};
void gp_relief_find(const struct gp_oom *oom, const struct gp_state *state,
		    struct gp_relief *relief);

struct gp_explain {
	const struct gp_trace *trace;
	uint32_t device; /* index */
	struct gp_replay_result result;
	/* false: there is only a state, nothing can be tried */
	bool has_requests;
	/* The moment explained: first OOM, or the peak, or without requests
	 * the last event; may be GP_AT_START. */
	uint64_t event;
	uint64_t capacity; /* bytes; GP_UNLIMITED */
	/* One per OOM, as in result.ooms.list. */
	struct gp_failure *failures;
	size_t failure_count;
	struct gp_relief relief;
	/* The lower bound for every allocator, and the height of a packing of
	 * the same lifetimes (study/floor/floor.h), in bytes. */
	struct {
		uint64_t bound, packing;
	} floor;
	struct gp_state state;
	struct gp_gap gap;
	struct gp_pins pins;
	struct gp_culprits now, over_time;
	struct gp_culprits live; /* blocks in use; bytes are sizes of blocks */
	/* The same; empty if the trace has no owners. */
	struct gp_culprits by_category, by_module;
	/* The moment of `live` and its sum: the moment explained, unless
	 * is_too_small or look_at_most_use chose another. */
	uint64_t live_event, live_bytes;
	struct gp_waiting waiting;
	struct gp_releases retries, empty_caches;
	struct gp_steps steps;
	struct gp_attempt *attempts; /* most helpful first */
	size_t attempt_count;
	struct gp_attempt base; /* the run itself on the simulated device */
	struct gp_device_calls base_calls;
};

struct gp_explain_config {
	const struct gp_replay_config *run; /* action and look are ignored */
	/* Skip the attempts: attempts, base and floor stay empty. */
	bool skip_attempts;
	/* If no request fails, explain the fullest moment at which reserved
	 * memory is at its peak, instead of the first one. */
	bool look_at_fullest;
	/* No setting serves the trace: `live` is for the moment of most memory
	 * in use on an unlimited device, not for the first failure. */
	bool is_too_small;
	/* The same where no request fails and clearly less is in use at the
	 * moment explained than at another. */
	bool look_at_most_use;
	/* Called before each replay; may be NULL. */
	void (*progress)(void *arg, const char *what);
	void *progress_arg;
};

enum gp_status gp_explain(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag);
void gp_explain_release(struct gp_explain *explain);

/* ---- the parts on their own ---- */

/* The caller releases *gap. settings determine how sizes are rounded. */
void gp_gap_of(const struct gp_trace *trace, const struct gp_settings *settings,
	       const struct gp_state *state, struct gp_gap *gap);
void gp_gap_release(struct gp_gap *gap);

void gp_pins_of(const struct gp_settings *settings,
		const struct gp_state *state, struct gp_pins *pins);
void gp_pins_release(struct gp_pins *pins);

#endif
