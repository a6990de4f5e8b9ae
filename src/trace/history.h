/* SPDX-License-Identifier: MIT */
/*
 * A recorded history while it is converted to requests: history.c walks over it
 * and infers the requests, start.c reconstructs the state at its beginning.
 */
#ifndef TRACE_HISTORY_H
#define TRACE_HISTORY_H

#include "base/map.h"
#include "gpupool/knob.h"
#include "trace/build_internal.h"

/* A block that was live or pending free before the first entry. */
struct start_block {
	uint64_t addr;
	uint64_t size; /* 0: unknown; then requested, rounded */
	uint64_t requested;
	size_t freed_at; /* index in out of its free; SIZE_MAX: none */
	uint32_t id, site;
	uint8_t state; /* enum gp_block_state */
	bool is_lost;  /* it does not fit into any segment */
};

struct history {
	struct gp_build *build;
	struct gp_build_device *device;
	struct gp_settings settings; /* for rounding, as recorded */
	/* Entries are read from raw and events written to out, which is the
	 * same array until more was written than read. */
	struct gp_event *raw, *out;
	size_t raw_count, raw_at; /* raw_at: the next to read */
	size_t out_count, out_room;

	struct gp_map live;    /* address -> id, from alloc to free */
	struct gp_map pending; /* address -> id, from free to completion */
	uint32_t ids;
	bool has_completions; /* else none were recorded */

	struct start_block *start;
	size_t start_count, start_room;

	uint64_t most_reserved; /* bytes, over the whole trace */
	uint64_t reserved;	/* bytes, at the current entry */
	bool *pool_is_released; /* by pool: inferred, and not used since */
};

/* The index of the first segment that begins after addr. */
size_t gp_history_segment_behind(const struct gp_build_state *state,
				 uint64_t addr);

/* Whether the memory of a segment event belonged to a small pool: its segments
 * have 2 MiB, while large ones are mapped and unmapped in whole large pages. */
bool gp_history_is_small(const struct history *h,
			 const struct gp_event *release);

/* The most bytes by which a block of the large pool may be larger than its
 * rounded request, unless segments are expandable: a remainder of up to 1 MiB
 * is not split off, and the block of an oversize request is never split. */
uint64_t gp_history_most_slack(const struct gp_settings *settings,
			       uint64_t rounded);

/* Computes the segments before the first entry from those at the end and the
 * entries, into device->start, in order of address and without blocks. */
void gp_history_start_segments(struct history *h);

/* Adds their blocks from h->start: sizes, slack, and free blocks in between.
 * True if some blocks have no place and are lost. */
bool gp_history_start_blocks(struct history *h);

#endif
