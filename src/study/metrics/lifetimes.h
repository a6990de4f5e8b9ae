/* SPDX-License-Identifier: MIT */
/*
 * The lifetime of every block of a run, and the total memory after each event:
 * the contents of a film in a form that can be queried for any moment.
 *
 * Moments are events: a block exists at moment m if its alloc is at or before
 * event m and its free is after it. Blocks of the start state exist from moment
 * 0 on. A trace without events has one moment.
 */
#ifndef STUDY_METRICS_LIFETIMES_H
#define STUDY_METRICS_LIFETIMES_H

#include "study/metrics/film.h"

#define GP_LIFE_NO_END UINT64_MAX /* it lives until the end of the trace */

struct gp_lifetime {
	uint64_t alloc; /* event; 0 if is_start */
	uint64_t freed; /* event of its free, or GP_LIFE_NO_END */
	uint64_t gone;	/* event after which its memory is free again */
	uint64_t addr, size, requested;
	uint32_t id, site;
	uint16_t stream, pool;
	bool is_start;
};

struct gp_lifetimes {
	struct gp_lifetime *list; /* in order of alloc */
	size_t count, room;
	uint64_t moments; /* at least 1 */
	/* By moment; allocated is the sum of the existing blocks. */
	uint64_t *allocated, *reserved;
};

/* Computes the lifetimes from a film of a trace with that many events. The film
 * is not needed afterwards. */
void gp_lifetimes_init(struct gp_lifetimes *lifetimes,
		       const struct gp_film *film, uint64_t events);
void gp_lifetimes_release(struct gp_lifetimes *lifetimes);

static inline bool gp_life_is_at(const struct gp_lifetime *lifetime,
				 uint64_t moment)
{
	return lifetime->alloc <= moment && moment < lifetime->freed;
}

/* The number of lifetimes that begin at or before that moment; they come first
 * in the list. */
size_t gp_lifetimes_until(const struct gp_lifetimes *lifetimes,
			  uint64_t moment);

/* The block with that id that exists at the moment; else the last one that
 * began before, else the first; NULL: there is none. */
const struct gp_lifetime *gp_lifetimes_find(
	const struct gp_lifetimes *lifetimes, uint32_t id, uint64_t moment);

/* The block at a byte of the stack of existing blocks, oldest at the bottom,
 * and in *bottom where it begins there; NULL: the byte is above the stack. */
const struct gp_lifetime *gp_lifetimes_stacked(
	const struct gp_lifetimes *lifetimes, uint64_t moment, uint64_t byte,
	uint64_t *bottom);

#endif
