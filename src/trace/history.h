/* SPDX-License-Identifier: MIT */
/*
 * A recorded history on its way to becoming requests: shared by history.c,
 * which walks it and concludes what the program asked for between two entries,
 * and start.c, which rebuilds the state it began from.
 */
#ifndef TRACE_HISTORY_H
#define TRACE_HISTORY_H

#include "base/map.h"
#include "gpupool/knob.h"
#include "trace/build_internal.h"

/* A block that was there before the first entry. */
struct start_block {
	uint64_t addr;
	uint64_t size; /* 0: not known; then rounded from requested */
	uint64_t requested;
	size_t freed_at; /* index in out of what frees it; SIZE_MAX: none */
	uint32_t id, site;
	uint8_t state; /* enum gp_block_state */
	bool is_lost;  /* there is no place for it */
};

struct history {
	struct gp_build *build;
	struct gp_build_device *device;
	struct gp_settings settings; /* for rounding, as recorded */
	/* Entries are read from raw and events written to out, which is the
	 * same array until more is written than was read. */
	struct gp_event *raw, *out;
	size_t raw_count, raw_at; /* raw_at: the first not yet read */
	size_t out_count, out_room;

	struct gp_map live;    /* address -> id, from alloc to free */
	struct gp_map waiting; /* address -> id, from free to completion */
	uint32_t ids;
	bool has_completions; /* else they were not recorded at all */

	struct start_block *start;
	size_t start_count, start_room;

	uint64_t most_reserved; /* bytes, over the whole trace */
	uint64_t reserved;	/* bytes, at the entry under way */
	bool *pool_is_released; /* by pool: concluded and not used since */
};

/* The index of the first segment that begins behind addr. */
size_t gp_history_segment_behind(const struct gp_build_state *state,
				 uint64_t addr);

/* Whether what was given back was of a small pool, whose segments are of 2 MiB;
 * what is unmapped of large ones comes in their pages. */
bool gp_history_is_small(const struct history *h,
			 const struct gp_event *release);

/* The segments before the first entry, from the end's and what happened to
 * them; in device->start, address order, without blocks. */
void gp_history_start_segments(struct history *h);

/* Their blocks, from h->start: sizes, slack, and what is free between.  True
 * if some found no place and are lost. */
bool gp_history_start_blocks(struct history *h);

#endif
