/* SPDX-License-Identifier: MIT */
/*
 * Why memory that is reserved cannot be used: where the gap between reserved
 * and allocated lies, which live blocks hold it there, what it would have been
 * under other settings, and what it cost.
 *
 * One device's trace is replayed several times: as asked, with somebody
 * looking, and once for each thing that is tried.  Everything here is counted,
 * nothing is guessed from rules of thumb.
 */
#ifndef STUDY_METRICS_EXPLAIN_H
#define STUDY_METRICS_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "trace/steps.h"
#include "gpupool/trace.h"

/* ---- where the gap is, at one moment ---- */

/* Why bytes are reserved and not allocated; each byte has one reason. */
enum gp_gap_reason {
	GP_GAP_HELD,   /* in segments, or pages, that live blocks hold */
	GP_GAP_CACHED, /* whole segments or pages: given back when need be */
	GP_GAP_POOL,   /* the same, of private pools: for these alone */
	/* Freed, while another stream may still use it, and what is free of the
	 * pages that it alone holds. */
	GP_GAP_WAITING,
	GP_GAP_REASONS,
};

struct gp_gap_part {
	uint64_t bytes, blocks, largest;
};

struct gp_gap {
	uint64_t reserved, allocated;
	uint64_t bytes; /* reserved - allocated; what all the parts sum to */
	struct gp_gap_part by_reason[GP_GAP_REASONS];
	struct gp_gap_part by_class[GP_SIZE_CLASSES];
	struct gp_gap_part small, large;	 /* by the pool's kind */
	struct gp_gap_part *by_stream, *by_pool; /* by the trace's indices */
	uint64_t requested; /* of active blocks: what is pending free is, too */
	/* Of what is allocated: */
	uint64_t rounding; /* sizes rounded up */
	uint64_t unsplit;  /* blocks larger than that, not cut */
};

/* ---- what holds it, at one moment ---- */

/*
 * Memory that goes back to the device as a whole or not at all: a segment, or
 * a page of an expandable one.  Live blocks in it hold its free bytes; what
 * only waits does not, since giving memory back waits too.
 */
struct gp_unit {
	uint64_t addr, size;
	uint64_t free;			/* bytes */
	uint32_t segment;		/* index into the state's */
	uint32_t first_holder, holders; /* range of gp_pins.holders */
};

struct gp_holder {
	uint32_t id;
	uint64_t addr, size, requested; /* of the block */
	uint32_t unit;
	uint64_t share; /* its part of the unit's free bytes */
};

struct gp_pins {
	struct gp_unit *units; /* held ones, with the most free bytes first */
	size_t unit_count;
	struct gp_holder *holders;
	size_t holder_count;
};

/* ---- blocks that belong together ---- */

enum gp_hold_by {
	GP_HOLD_BY_SITE, /* one size, where no site is known */
	GP_HOLD_BY_SIZE, /* as requested, from a power of two to the next */
	GP_HOLD_BY_STREAM,
	GP_HOLD_BY_POOL,
	GP_HOLD_BY_CATEGORY, /* what record tells it is for */
	GP_HOLD_BY_MODULE,
	GP_HOLD_BYS,
};

struct gp_culprit {
	uint32_t site;	       /* GP_NO_SITE: by size */
	uint16_t stream, pool; /* of one of its blocks */
	struct gp_owner owner; /* likewise */
	uint32_t index;	       /* among all culprits of the run */
	uint64_t least, most;  /* bytes, as requested */
	uint64_t blocks;
	uint64_t units;	    /* that they hold; at one moment only */
	uint64_t bytes;	    /* that they pin: at the moment, or on average */
	uint64_t events;    /* over which; the oldest's age at one moment */
	double byte_events; /* over the whole trace */
	bool from_start;    /* some were there when the trace began */
};

struct gp_culprits {
	struct gp_culprit *list; /* those that pin most first */
	size_t count;
};

/* ---- over the whole trace ---- */

/* Memory given back in the course of one request. */
struct gp_release {
	uint64_t event, bytes, segments;
	uint64_t paid_again; /* bytes asked for anew within the step */
	uint32_t site;
};
struct gp_releases {
	struct gp_release *list;
	size_t count, room;
	uint64_t bytes, paid_again;
};

struct gp_waiting {
	uint64_t frees; /* that were delayed */
	uint64_t peak;	/* bytes waiting at once */
	uint64_t peak_event;
	double byte_events; /* bytes x events they waited */
};

/* ---- what was tried that is no setting (for those: gpupool/study.h) ---- */

struct gp_attempt {
	char name[64];	     /* "all work on one stream" */
	char flag[160];	     /* for a shell: "--merge-streams" */
	bool no_oom, serves; /* the request that first had no memory */
	uint64_t oom_event;  /* unless no_oom */
	uint64_t peak_reserved, peak_allocated;
	uint64_t retries, ooms, device_allocs;
};

/* A request without memory, beside its gp_oom: what it and what is live need
 * together, in whole blocks of 512 bytes and with requests that failed before
 * it, and what they could have had. */
struct gp_failure {
	uint64_t needed, available;
	bool is_too_small; /* needed is more: no setting can help */
};

/* The fewest live bytes whose segments, once free, would have served the first
 * request that failed; segments 0: no set of segments would. */
struct gp_relief {
	/* Not of expandable segments, nor where only old ones are given back,
	 * as in a capture with a garbage_collection_threshold. */
	bool is_told;
	uint64_t segments, blocks, bytes;
};
void gp_relief_find(const struct gp_oom *oom, const struct gp_state *state,
		    struct gp_relief *relief);

struct gp_explain {
	const struct gp_trace *trace;
	uint32_t device; /* index */
	struct gp_replay_result result;
	bool has_requests; /* else only a state: nothing can be tried */
	uint64_t event;	   /* that is looked at: first OOM, or the peak */
	uint64_t capacity; /* bytes; GP_UNLIMITED */
	/* Every OOM, as result.ooms.list. */
	struct gp_failure *failures;
	size_t failure_count;
	struct gp_relief relief;
	/* Bytes that no allocator could do without, and of a packing of the
	 * same lifetimes (gpupool/floor.h). */
	struct {
		uint64_t bound, packing;
	} floor;
	struct gp_state state;
	struct gp_gap gap;
	struct gp_pins pins;
	struct gp_culprits now, over_time;
	struct gp_culprits live; /* what is in use; bytes as cut */
	/* The same; empty where the trace does not tell. */
	struct gp_culprits by_category, by_module;
	/* When that is, and its sum: the event that is looked at, unless
	 * another was asked for (is_too_small, look_at_most_use). */
	uint64_t live_event, live_bytes;
	struct gp_waiting waiting;
	struct gp_releases retries, empty_caches;
	struct gp_steps steps;
	struct gp_attempt *attempts; /* those that help most first */
	size_t attempt_count;
	struct gp_attempt base; /* the run itself, on the simulated device */
	struct gp_device_calls base_calls;
};

struct gp_explain_config {
	const struct gp_replay_config *run; /* action and look are not used */
	/* Nothing is tried: attempts, base and floor are empty. */
	bool skip_attempts;
	/* Where no request fails, the moment is not that at which reserved
	 * comes to its peak, but the fullest with as much reserved. */
	bool look_at_fullest;
	/* No setting serves it: what is in use is that of the moment when it is
	 * most, had the device no end, not of the first failure. */
	bool is_too_small;
	/* The same where no request fails and clearly less is in use at the
	 * moment than at another. */
	bool look_at_most_use;
	/* Told before each replay; NULL: nobody listens. */
	void (*progress)(void *arg, const char *what);
	void *progress_arg;
};

enum gp_status gp_explain(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag);
void gp_explain_release(struct gp_explain *explain);

/* ---- the parts by themselves ---- */

/* The caller releases.  settings say how sizes are rounded. */
void gp_gap_of(const struct gp_trace *trace, const struct gp_settings *settings,
	       const struct gp_state *state, struct gp_gap *gap);
void gp_gap_release(struct gp_gap *gap);

void gp_pins_of(const struct gp_settings *settings,
		const struct gp_state *state, struct gp_pins *pins);
void gp_pins_release(struct gp_pins *pins);

#endif
