/* SPDX-License-Identifier: MIT */
/*
 * A film: the layout of memory after every event of a run.
 *
 * It is the list of changes, in order: memory mapped and unmapped, blocks
 * allocated and freed; the layout at a moment follows from the changes up to
 * it. Free blocks are not stored: they are mapped memory without a block.
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
	GP_SHOT_WAIT,  /* id: the free is pending */
	GP_SHOT_FREE,  /* id */
};

/* A change. */
struct gp_shot {
	uint64_t event; /* 0 also for the start state */
	uint64_t addr;
	/* Of a block: its actual size, not the requested one. */
	uint64_t size;
	uint64_t requested; /* bytes */
	uint32_t id, site;
	uint16_t stream, pool;
	uint8_t kind; /* enum gp_shot_kind */
	bool is_expandable, is_small, is_start;
};

struct gp_film;

/* The film begins with the device's start state; device is borrowed. */
struct gp_film *gp_film_create(const struct gp_device_trace *device);
void gp_film_destroy(struct gp_film *film);

/* To be called for each action, and gp_film_look() after each event: only the
 * allocator knows the size of the block that a request got. */
void gp_film_action(struct gp_film *film, const struct gp_action *action,
		    uint64_t event);
void gp_film_look(struct gp_film *film, const struct gp_allocator *allocator);

size_t gp_film_shots(const struct gp_film *film, const struct gp_shot **shots);

/* The layout after that event, as from an allocator's state(); released with
 * gp_state_release(). A segment whose pool is not known from the run counts as
 * small if it is 2 MiB. */
void gp_film_state(const struct gp_film *film, uint64_t event,
		   struct gp_state *state);

#endif
