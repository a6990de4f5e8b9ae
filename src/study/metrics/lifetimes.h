/* SPDX-License-Identifier: MIT */
/*
 * The life of every block of a run, and how much memory there was behind each
 * event: what a film tells, in a form in which any moment can be asked for.
 *
 * Moments are events: a block is there at moment m when its alloc is not behind
 * event m and its free is.  What was there at the start is there from moment 0
 * on.  A trace without events has one moment.
 */
#ifndef STUDY_METRICS_LIFETIMES_H
#define STUDY_METRICS_LIFETIMES_H

#include "study/metrics/film.h"

#define GP_LIFE_NO_END UINT64_MAX /* it lasts as long as the trace */

struct gp_lifetime {
	uint64_t alloc; /* event; of is_start: 0 */
	uint64_t freed; /* event that freed it; GP_LIFE_NO_END */
	uint64_t gone;	/* event behind which its memory is free again */
	uint64_t addr, size, requested;
	uint32_t id, site;
	uint16_t stream, pool;
	bool is_start;
};

struct gp_lifetimes {
	struct gp_lifetime *list; /* in the order of their allocs */
	size_t count, room;
	uint64_t moments; /* at least 1 */
	/* By moment.  Allocated is the sum of the blocks that are there. */
	uint64_t *allocated, *reserved;
};

/* Of a trace of so many events; the film may go then. */
void gp_lifetimes_init(struct gp_lifetimes *lifetimes,
		       const struct gp_film *film, uint64_t events);
void gp_lifetimes_release(struct gp_lifetimes *lifetimes);

static inline bool gp_life_is_at(const struct gp_lifetime *lifetime,
				 uint64_t moment)
{
	return lifetime->alloc <= moment && moment < lifetime->freed;
}

/* How many lifetimes begin no later than that moment: the first so many. */
size_t gp_lifetimes_until(const struct gp_lifetimes *lifetimes,
			  uint64_t moment);

/* The block of an id that is there at the moment, else its last one that began
 * before, else its first; NULL: there is none. */
const struct gp_lifetime *gp_lifetimes_find(
	const struct gp_lifetimes *lifetimes, uint32_t id, uint64_t moment);

/* The block at that byte when those that are there lie one upon another, the
 * oldest at the bottom, and where it begins there; NULL: it is above them. */
const struct gp_lifetime *gp_lifetimes_stacked(
	const struct gp_lifetimes *lifetimes, uint64_t moment, uint64_t byte,
	uint64_t *bottom);

#endif
