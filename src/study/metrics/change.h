/* SPDX-License-Identifier: MIT */
/*
 * The differences between two runs: the breakdown of their peaks of reserved
 * memory, the requests that were live then, and the first request at which the
 * programs diverge.
 *
 * All amounts are in bytes. The parts of a breakdown add up to reserved
 * exactly.
 */
#ifndef STUDY_METRICS_CHANGE_H
#define STUDY_METRICS_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/replay.h"
#include "trace/site.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

/* ---- the breakdown of a peak of reserved memory ---- */

enum gp_part_id {
	GP_PART_LIVE,
	GP_PART_ROUNDING,
	GP_PART_WAITING,
	GP_PART_STREAMS,
	GP_PART_POOLS,
	GP_PART_PACKING,
	GP_PARTS,
};

struct gp_part {
	const char *key;   /* in JSON */
	const char *label; /* in text */
	const char *meaning;
};

/* Indexed by enum gp_part_id. */
extern const struct gp_part gp_parts[GP_PARTS];

struct gp_breakdown {
	uint64_t reserved;
	uint64_t part[GP_PARTS];
	uint64_t event;	    /* the moment */
	bool is_from_start; /* see struct gp_replay_result */
	/* Streams and pools are separate parts; otherwise packing includes
	 * them. */
	bool is_split;
	/* The free bytes in segments without a block in use; known if
	 * is_split. */
	uint64_t unused_segments;
	uint64_t peak_allocated; /* of the whole run */
	uint64_t ooms, retries, dropped;
};

/*
 * Replays as in config, and up to three times more if several streams or pools
 * are in use: the same blocks with the same lifetimes, with the streams merged,
 * and then with the private pools merged as well. *result is that of the first
 * run, with its peak; the caller releases it. config's own action is not
 * called.
 */
enum gp_status gp_breakdown_take(const struct gp_replay_config *config,
				 struct gp_breakdown *breakdown,
				 struct gp_replay_result *result,
				 struct gp_diag *diag);

/*
 * The same at a given moment, after that event: live, rounding and waiting are
 * those of that moment, and the rest of the peak is free. So two runs of the
 * same requests are compared at the same live set, whenever they peak.
 * result->peak has the memory at that moment.
 */
#define GP_AT_FULLEST UINT64_MAX
enum gp_status gp_breakdown_take_at(const struct gp_replay_config *config,
				    uint64_t moment,
				    struct gp_breakdown *breakdown,
				    struct gp_replay_result *result,
				    struct gp_diag *diag);

/* The first event after which the program holds the most requested bytes;
 * GP_AT_FULLEST: there are no events. Requests that failed when it was recorded
 * count if a run may serve them. */
enum gp_refusals { GP_REFUSALS_COUNT, GP_REFUSALS_DO_NOT_COUNT };
uint64_t gp_breakdown_moment(const struct gp_trace *trace, uint32_t device,
			     enum gp_refusals refusals);

/* The breakdown of a moment whose blocks are not known: the rounding of pending
 * frees is counted as rounding, and is missing from the live set. */
struct gp_breakdown gp_breakdown_of_moment(const struct gp_moment *moment);

/* ---- the holders of the live set ---- */

struct gp_share {
	char name[GP_SITE_TEXT]; /* name of a site; "": none, or a size class */
	uint64_t floor;		 /* of a size class [floor, 2 * floor) */
	uint64_t blocks;	 /* live at the moment; 0: it holds none then */
	uint64_t requested, rounding; /* of these blocks */
	/* Of the whole run: the most requested bytes that are live at once, the
	 * number of requests, and their bytes. */
	uint64_t most, requests, asked;
};

enum gp_sharing { GP_SHARE_BY_SITE, GP_SHARE_BY_SIZE };

/* Sums the live blocks of result->peak, and what the shares hold at most in
 * that run. The caller frees *shares. */
size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_replay_result *result,
		    enum gp_sharing sharing, struct gp_share **shares);

/* Decided by the whole programs, whichever moments are compared. */
enum gp_share_fate {
	GP_SHARE_STAYED,
	GP_SHARE_MOVED, /* to another line of its function */
	GP_SHARE_NEW,	/* A never requests there */
	GP_SHARE_GONE,	/* B never requests there */
};

struct gp_share_pair {
	struct gp_share a, b; /* b of one that is gone, a of a new one: zero */
	enum gp_share_fate fate;
};

/* The share of the side that has it: b, unless it is gone. */
const struct gp_share *gp_share_pair_some(const struct gp_share_pair *pair);

/* Pairs the shares of two runs that hold something in one of them, largest
 * change first. The caller frees *pairs. */
size_t gp_share_match(const struct gp_share *a, size_t a_count,
		      const struct gp_share *b, size_t b_count,
		      struct gp_share_pair **pairs);

/* ---- where two programs diverge ---- */

struct gp_request {
	bool is_there; /* false: the trace has ended */
	uint64_t event;
	enum gp_event_kind kind;
	uint64_t size; /* alloc, free: as requested */
	uint64_t born; /* the event that allocated its block, from 1; 0: none */
	double fraction;
	const char *text; /* settings; NULL: none */
	uint64_t stream;
	bool waits; /* a stream, `by`, waits for it, not the program */
	uint64_t by;
	struct gp_pool_id pool;
	char site[GP_SITE_TEXT]; /* "": unknown */
	const char *step;	 /* the last mark before it; NULL: none */
};

/* The requests between marks. A step is identified by its name and its ordinal
 * among the steps of that name. */
struct gp_divergence_steps {
	uint64_t a, b;	/* number of steps */
	uint64_t both;	/* steps in both */
	uint64_t alike; /* of those, with the same requests */
	/* The first that differs; NULL: none. */
	const char *first;
	uint64_t first_ordinal;		 /* among those of its name */
	uint64_t a_requests, b_requests; /* number, in that first step */
};

struct gp_divergence {
	bool is_there;
	uint64_t common;    /* common requests before it */
	bool starts_differ; /* the live blocks at the start differ */
	struct gp_request a, b;
	struct gp_divergence_steps steps;
};

/*
 * Finds the first difference in the requests. Streams and pools are matched by
 * order of appearance, blocks by their request.
 */
struct gp_divergence gp_divergence_find(const struct gp_trace *a,
					uint32_t a_device,
					const struct gp_trace *b,
					uint32_t b_device);

#endif
