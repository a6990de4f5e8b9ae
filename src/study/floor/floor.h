/* SPDX-License-Identifier: MIT */
/*
 * The floor: how little memory would suffice if an allocator knew every
 * lifetime in advance and placed all blocks in one address range, whatever
 * their stream and pool.
 *
 * No allocator that leaves blocks where they are can do with less than the peak
 * of live bytes (bound). The smallest possible height lies between that and the
 * height of the packing that was found (height). What is reserved beyond the
 * packing is the cost of not knowing the future, of streams, pools, segments
 * and rounding.
 *
 * This is the problem of static memory allocation, whose file format,
 * minimalloc's CSV, is read and written (gp_spans_read, gp_spans_write).
 */
#ifndef STUDY_FLOOR_FLOOR_H
#define STUDY_FLOOR_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

/* An interval within a span during which only bytes [from, to) of it are in
 * use, relative to its start; to == 0: none of them. */
struct gp_span_gap {
	uint64_t lower, upper;
	uint64_t from, to;
};

/* A block of memory that is in use at times lower <= time < upper. */
struct gp_span {
	uint64_t lower, upper;
	uint64_t size;	/* bytes */
	uint64_t align; /* its offset is a multiple of this; at least 1 */
	uint32_t first_gap, gaps; /* range in gp_spans.gaps */
	/* Id of the trace's block, or index of its name. */
	uint32_t id;
};

#define GP_NO_HINT (-1)

struct gp_spans {
	struct gp_span *items;
	size_t count;
	struct gp_span_gap *gaps;
	size_t gap_count;
	/* Names from a file; NULL: the spans are from a trace. */
	const char **names;
	int64_t *hints; /* NULL: the file has none */
	bool has_align, has_gaps;
	void *memory; /* owned; holds the names */
};

/* As in PyTorch, sizes and offsets are multiples of this. */
#define GP_FLOOR_ROUND 512

/*
 * The lifetimes of the blocks of a device's trace, including those of requests
 * that were not served: a block is in use from the event that allocates it (0:
 * it is in the start state) up to the event that frees it. Sizes are rounded up
 * to a multiple of round.
 */
void gp_spans_of_trace(const struct gp_trace *trace, uint32_t device,
		       uint64_t round, struct gp_spans *spans);

/* minimalloc's CSV. */
bool gp_spans_is_csv(const char *path); /* by the beginning of the file */
enum gp_status gp_spans_read(const char *path, struct gp_spans *spans,
			     struct gp_diag *diag);
enum gp_status gp_spans_parse(const char *text, size_t length,
			      struct gp_spans *spans, struct gp_diag *diag);
/* offsets: one per span. names: the block names of a trace, as in struct
 * gp_device_trace; NULL: uses the ids, or the spans' own names. */
void gp_spans_write(const struct gp_spans *spans, const uint64_t *offsets,
		    const uint64_t *names, FILE *out);

void gp_spans_release(struct gp_spans *spans);

/* The method that found a packing. */
enum gp_floor_method {
	GP_FLOOR_IN_TIME, /* in order of time, first fit */
	/* In order of size, area or time, each at the lowest place. */
	GP_FLOOR_IN_ORDER,
	/* The same, after moving the highest blocks forward in the order. */
	GP_FLOOR_IMPROVED,
	GP_FLOOR_SEARCHED, /* by search */
	GP_FLOOR_METHODS,
};
const char *gp_floor_method_name(enum gp_floor_method method);

struct gp_floor_config {
	const struct gp_spans *spans;
	/* Stop when a packing needs at most that many bytes; 0: find the lowest
	 * that the work permits. */
	uint64_t capacity;
	uint64_t work; /* approximate limit in steps; 0: GP_FLOOR_WORK */
};
#define GP_FLOOR_WORK (UINT64_C(1) << 31)

struct gp_floor {
	uint64_t bound;	     /* peak of live bytes */
	uint64_t bound_time; /* the first time at which it is reached */
	uint64_t height;     /* height of the packing found, in bytes */
	uint64_t *offsets;   /* one per span; gp_floor_release() */
	enum gp_floor_method method;
	/* The packing is optimal: it is as low as the bound, or the search
	 * excluded all lower ones. */
	bool is_least;
	/* The capacity was not reached, and no packing can reach it. */
	bool is_impossible;
	uint64_t work; /* steps used */
};

void gp_floor_find(const struct gp_floor_config *config,
		   struct gp_floor *floor);
void gp_floor_release(struct gp_floor *floor);

/* Whether only some bytes of a span are in use during a gap. Packings make no
 * use of that: the whole span counts as in use then. The bound does. */
bool gp_spans_have_windows(const struct gp_spans *spans);

/* Only the bound: the peak of bytes in use, and the first time of it. */
uint64_t gp_floor_bound(const struct gp_spans *spans, uint64_t *time);

/* Computes gp_allocator_config.places: a packing, for each stream and pool, of
 * all requested blocks or of the given fraction of them. With rest_idle the
 * other blocks are placed, too, each where the packing and earlier ones leave
 * memory idle during its lifetime, if that takes no more than about a second.
 * The caller frees the result. */
uint64_t *gp_places_make(const struct gp_trace *trace, uint32_t device,
			 double known, bool rest_idle);

#endif
