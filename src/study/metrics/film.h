/* SPDX-License-Identifier: MIT */
/*
 * A film: how memory was laid out behind every event of a run.
 *
 * It is the list of changes, in order: memory mapped and unmapped, blocks
 * allocated and freed; what it looked like at one moment follows from those up
 * to there.  Free blocks are not in it: they are what is mapped and not held.
 */
#ifndef STUDY_METRICS_FILM_H
#define STUDY_METRICS_FILM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/trace.h"

enum gp_shot_kind {
	GP_SHOT_MAP,   /* addr, size, stream, pool */
	GP_SHOT_UNMAP, /* addr, size */
	GP_SHOT_ALLOC, /* id, addr, size, requested, stream, pool, site */
	GP_SHOT_WAIT,  /* id: freed, but a stream may still use it */
	GP_SHOT_FREE,  /* id */
};

/* One change. */
struct gp_shot {
	uint64_t event; /* 0 also for what was there at the start */
	uint64_t addr;
	uint64_t size;	    /* of a block: as cut, not as requested */
	uint64_t requested; /* bytes */
	uint32_t id, site;
	uint16_t stream, pool;
	uint8_t kind; /* enum gp_shot_kind */
	bool is_expandable, is_small, is_start;
};

struct gp_film;

/* Begins with the device's start state; device is borrowed. */
struct gp_film *gp_film_create(const struct gp_device_trace *device);
void gp_film_destroy(struct gp_film *film);

/* Each action, then, behind each event, a look: only the allocator knows how
 * large the block is that a request was given. */
void gp_film_action(struct gp_film *film, const struct gp_action *action,
		    uint64_t event);
void gp_film_look(struct gp_film *film, const struct gp_allocator *allocator);

size_t gp_film_shots(const struct gp_film *film, const struct gp_shot **shots);

/* Behind that event, as an allocator's state(); gp_state_release.  A segment
 * whose pool the run does not tell counts as small when it is 2 MiB. */
void gp_film_state(const struct gp_film *film, uint64_t event,
		   struct gp_state *state);

#endif
