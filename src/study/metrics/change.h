/* SPDX-License-Identifier: MIT */
/*
 * What changed between two runs: what their peaks of reserved memory are made
 * of, which requests were live then, and where the programs part.
 *
 * All amounts are bytes, and those of a breakdown add up to reserved exactly.
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

/* ---- what a peak of reserved memory is made of ---- */

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

/* By enum gp_part_id. */
extern const struct gp_part gp_parts[GP_PARTS];

struct gp_breakdown {
	uint64_t reserved;
	uint64_t part[GP_PARTS];
	uint64_t event;	    /* the moment */
	bool is_from_start; /* see struct gp_replay_result */
	/* Streams and pools are told apart; else packing holds them. */
	bool is_split;
	/* Of what is free, that in segments without a block in use; known
	 * where is_split. */
	uint64_t unused_segments;
	uint64_t peak_allocated; /* of the whole run */
	uint64_t ooms, retries, dropped;
};

/*
 * Replays, as config says and up to three times more where several streams or
 * pools are in use: the same blocks, each for as long, with the streams
 * merged, and then with the private pools merged as well.  *result is that of
 * the first run, its peak kept; the caller releases it.  config's own action
 * is not called.
 */
enum gp_status gp_breakdown_take(const struct gp_replay_config *config,
				 struct gp_breakdown *breakdown,
				 struct gp_replay_result *result,
				 struct gp_diag *diag);

/*
 * The same at a given moment, behind that event: what is live, rounded up and
 * waiting is of then, and the rest of the peak is free.  Runs of the same
 * requests hold the same at such a moment, whenever they peak.  The result's
 * peak is memory then.
 */
#define GP_AT_FULLEST UINT64_MAX
enum gp_status gp_breakdown_take_at(const struct gp_replay_config *config,
				    uint64_t moment,
				    struct gp_breakdown *breakdown,
				    struct gp_replay_result *result,
				    struct gp_diag *diag);

/* The first event behind which the program holds the most, by what it asked
 * for; GP_AT_FULLEST: there are no events. */
uint64_t gp_breakdown_moment(const struct gp_trace *trace, uint32_t device);

/* What can be told of a moment without its blocks: the rounding of blocks that
 * wait counts as rounding, and is missing from the live set. */
struct gp_breakdown gp_breakdown_of_moment(const struct gp_moment *moment);

/* ---- who holds the live set ---- */

struct gp_share {
	char name[GP_SITE_TEXT]; /* a site's; "": none, or a size class */
	uint64_t floor; /* of a size class: up to twice as much, exclusive */
	uint64_t blocks;
	uint64_t requested, rounding;
};

enum gp_sharing { GP_SHARE_BY_SITE, GP_SHARE_BY_SIZE };

/* The state's live blocks, summed.  The caller frees *shares. */
size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_state *state, enum gp_sharing sharing,
		    struct gp_share **shares);

enum gp_share_fate {
	GP_SHARE_STAYED,
	GP_SHARE_MOVED, /* to another line of its function */
	GP_SHARE_NEW,
	GP_SHARE_GONE,
};

struct gp_share_pair {
	struct gp_share a, b; /* without blocks where there is none */
	enum gp_share_fate fate;
};

/* The largest change first.  The caller frees *pairs. */
size_t gp_share_match(const struct gp_share *a, size_t a_count,
		      const struct gp_share *b, size_t b_count,
		      struct gp_share_pair **pairs);

/* ---- where two programs part ---- */

struct gp_request {
	bool is_there; /* else the trace is over */
	uint64_t event;
	enum gp_event_kind kind;
	uint64_t size; /* alloc, free: as requested */
	uint64_t stream;
	struct gp_pool_id pool;
	char site[GP_SITE_TEXT]; /* "": not known */
	const char *step;	 /* the last mark before it; NULL: none */
};

/* Requests between marks; a step is known by its name and by how often that
 * name came before. */
struct gp_divergence_steps {
	uint64_t a, b;			 /* how many there are */
	uint64_t both;			 /* that both have */
	uint64_t alike;			 /* of those: with the same requests */
	const char *first;		 /* that is not alike; NULL: none */
	uint64_t first_ordinal;		 /* of its name, from 1 */
	uint64_t a_requests, b_requests; /* of the first */
};

struct gp_divergence {
	bool is_there;
	uint64_t common;    /* requests before it */
	bool starts_differ; /* the live blocks at the start */
	struct gp_request a, b;
	struct gp_divergence_steps steps;
};

/*
 * Requests are the same when they ask for the same; streams and pools are
 * known by the order in which they appear, blocks by their request.
 */
struct gp_divergence gp_divergence_find(const struct gp_trace *a,
					uint32_t a_device,
					const struct gp_trace *b,
					uint32_t b_device);

#endif
