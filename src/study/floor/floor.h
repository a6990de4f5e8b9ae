/* SPDX-License-Identifier: MIT */
/*
 * The floor: how little memory would do, had an allocator known every lifetime
 * from the start and put all blocks into one range, whatever their stream and
 * pool.
 *
 * No allocator can do with less than the bytes that are live at once (bound).
 * Between that and a packing that was found (height) lies what nobody knows;
 * what is reserved beyond the packing is the price of not knowing the future,
 * of streams, pools, segments and rounding.
 *
 * Problem and answer are those of static memory allocation, whose file format
 * (minimalloc's CSV) is read and written (gp_spans_read, gp_spans_write).
 */
#ifndef STUDY_FLOOR_FLOOR_H
#define STUDY_FLOOR_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

/* A time within a span at which less of it is in use: bytes [from, to), counted
 * from its own start; none where to is 0. */
struct gp_span_gap {
	uint64_t lower, upper;
	uint64_t from, to;
};

/* Memory in use at times lower <= time < upper. */
struct gp_span {
	uint64_t lower, upper;
	uint64_t size;	/* bytes */
	uint64_t align; /* its offset is a multiple of that; at least 1 */
	uint32_t first_gap, gaps; /* range of the spans' gaps */
	uint32_t id;		  /* of the trace's block, or of its name */
};

#define GP_NO_HINT (-1)

struct gp_spans {
	struct gp_span *items;
	size_t count;
	struct gp_span_gap *gaps;
	size_t gap_count;
	/* Of a file; NULL: a trace's. */
	const char **names;
	int64_t *hints; /* NULL: the file has none */
	bool has_align, has_gaps;
	void *memory; /* owned: the names */
};

/* As in PyTorch, sizes and offsets are multiples of that. */
#define GP_FLOOR_ROUND 512

/*
 * The lifetimes of a device's trace, also of requests that were not served: a
 * block is in use from the event that asks for it (0: it was there before) up
 * to the event that gives it up.  Sizes are rounded up to a multiple of round.
 */
void gp_spans_of_trace(const struct gp_trace *trace, uint32_t device,
		       uint64_t round, struct gp_spans *spans);

/* minimalloc's CSV. */
bool gp_spans_is_csv(const char *path); /* by what the file begins with */
enum gp_status gp_spans_read(const char *path, struct gp_spans *spans,
			     struct gp_diag *diag);
enum gp_status gp_spans_parse(const char *text, size_t length,
			      struct gp_spans *spans, struct gp_diag *diag);
/* offsets: one for each span.  names: of the blocks of a trace, as gp_trace
 * has them; NULL: their ids, or the spans' own names. */
void gp_spans_write(const struct gp_spans *spans, const uint64_t *offsets,
		    const uint64_t *names, FILE *out);

void gp_spans_release(struct gp_spans *spans);

/* How a packing was found. */
enum gp_floor_method {
	GP_FLOOR_IN_TIME,  /* in the order of the requests, first or best fit */
	GP_FLOOR_IN_ORDER, /* by size, area or time, each at the lowest place */
	GP_FLOOR_IMPROVED, /* the same, with what stuck out placed earlier */
	GP_FLOOR_SEARCHED, /* by search */
	GP_FLOOR_METHODS,
};
const char *gp_floor_method_name(enum gp_floor_method method);

struct gp_floor_config {
	const struct gp_spans *spans;
	/* Bytes; good enough when a packing needs no more.  0: as low as the
	 * work allows. */
	uint64_t capacity;
	uint64_t work; /* steps at most, about; 0: GP_FLOOR_WORK */
};
#define GP_FLOOR_WORK (UINT64_C(1) << 31)

struct gp_floor {
	uint64_t bound;	     /* bytes live at once, at most */
	uint64_t bound_time; /* the first time of that */
	uint64_t height;     /* bytes, of the packing found */
	uint64_t *offsets;   /* one for each span; gp_floor_release */
	enum gp_floor_method method;
	/* No packing needs less: it is as low as the bound, or the search went
	 * through all others. */
	bool is_least;
	/* Of a capacity that was not reached: no packing fits it. */
	bool is_impossible;
	uint64_t work; /* steps that were taken */
};

void gp_floor_find(const struct gp_floor_config *config,
		   struct gp_floor *floor);
void gp_floor_release(struct gp_floor *floor);

/* Only the bound: the most bytes in use at once, and when first. */
uint64_t gp_floor_bound(const struct gp_spans *spans, uint64_t *time);

/* Whether offsets keep all spans apart, each at a multiple of its align.
 * Takes time for all pairs. */
bool gp_floor_is_valid(const struct gp_spans *spans, const uint64_t *offsets);

/* What struct gp_allocator_config calls places, of a packing for each stream
 * and pool of the blocks that are asked for, or of that share of them; with
 * rest_idle of the others as well, each where the packing and those before it
 * leave memory idle for as long as it lives, if that is found in a second or
 * so. The caller frees it. */
uint64_t *gp_places_make(const struct gp_trace *trace, uint32_t device,
			 double known, bool rest_idle);

#endif
