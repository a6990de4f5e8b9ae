/* SPDX-License-Identifier: MIT */
/* Segments and blocks of one moment: sorted, complete, without overlaps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/build_internal.h"
#include "trace/check.h"

static enum gp_status bad(const struct gp_segment *segment,
			  struct gp_diag *diag, const char *what)
{
	gp_diag_record(diag, "segment 0x%" PRIx64, segment->addr);
	gp_diag_hint(diag, "the blocks of a segment stand in address order "
			   "and cover all of it");
	return gp_diag_set(diag, GP_INPUT, "%s", what);
}

/* A device has 57 bits of addresses at most; what is more would not fit the
 * counters either. */
#define MOST_BYTES (UINT64_C(1) << 56)

static enum gp_status check_blocks(const struct gp_segment *segment,
				   const struct gp_block *blocks,
				   struct gp_diag *diag)
{
	uint64_t at = segment->addr, left = segment->size;
	uint32_t i;

	for (i = 0; i < segment->blocks; i++) {
		const struct gp_block *block = &blocks[i];

		if (block->addr < at)
			return bad(segment, diag, "its blocks overlap");
		if (block->addr > at)
			return bad(segment, diag, "a gap between its blocks");
		if (!block->size)
			return bad(segment, diag, "a block of 0 bytes");
		if (block->size > left)
			return bad(segment, diag,
				   "its blocks are larger than the segment");
		if (block->state == GP_ACTIVE && block->requested > block->size)
			return bad(segment, diag,
				   "a block smaller than what was requested");
		at += block->size;
		left -= block->size;
	}
	if (left)
		return bad(segment, diag,
			   "its blocks do not cover the segment");
	return GP_OK;
}

static enum gp_status check_segment(const struct gp_segment *segment,
				    const struct gp_block *blocks, uint64_t end,
				    struct gp_diag *diag)
{
	if (!segment->addr)
		return bad(segment, diag, "a segment at address 0");
	if (!segment->size)
		return bad(segment, diag, "a segment of 0 bytes");
	if (segment->size > UINT64_MAX - segment->addr ||
	    segment->size > INT64_MAX)
		return bad(segment, diag, "it ends beyond 2^64");
	if (segment->addr < end)
		return bad(segment, diag, "it overlaps the segment before it");
	if (!segment->blocks)
		return bad(segment, diag, "it has no blocks");
	return check_blocks(segment, blocks + segment->first_block, diag);
}

enum gp_status gp_state_check(const struct gp_state *state,
			      struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	uint64_t end = 0, total = 0;
	size_t i;

	for (i = 0; i < state->segment_count && !status; i++) {
		const struct gp_segment *segment = &state->segments[i];

		status = check_segment(segment, state->blocks, end, diag);
		end = segment->addr + segment->size;
		total +=
			segment->size < MOST_BYTES ? segment->size : MOST_BYTES;
		if (!status && total >= MOST_BYTES)
			status = bad(segment, diag,
				     "more memory than a device can address");
	}
	return status;
}

static int by_addr(const void *a, const void *b)
{
	const struct gp_segment *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Blocks, and their names, in the order of the sorted segments. */
static void follow_segments(struct gp_build_state *s)
{
	struct gp_block *blocks = gp_mem_alloc(s->block_count, sizeof(*blocks));
	uint64_t *names = gp_mem_alloc(s->block_count, sizeof(*names));
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < s->segment_count; i++) {
		struct gp_segment *segment = &s->segments[i];

		if (segment->blocks) {
			memcpy(blocks + at, s->blocks + segment->first_block,
			       segment->blocks * sizeof(*blocks));
			memcpy(names + at, s->names + segment->first_block,
			       segment->blocks * sizeof(*names));
		}
		segment->first_block = at;
		at += segment->blocks;
	}
	free(s->blocks);
	free(s->names);
	s->blocks = blocks;
	s->names = names;
	s->block_room = s->name_room = s->block_count;
}

static bool is_sorted(const struct gp_build_state *s)
{
	size_t i;

	for (i = 1; i < s->segment_count; i++)
		if (s->segments[i].addr < s->segments[i - 1].addr)
			return false;
	return true;
}

/* A block whose address the file does not tell is behind the one before. */
static void place_blocks(const struct gp_segment *segment,
			 struct gp_block *blocks)
{
	uint64_t at = segment->addr;
	uint32_t i;

	for (i = 0; i < segment->blocks; i++) {
		if (!blocks[i].addr)
			blocks[i].addr = at;
		at += blocks[i].size;
	}
}

enum gp_status gp_state_settle(struct gp_build_state *s, struct gp_diag *diag)
{
	struct gp_state state;
	size_t i;

	for (i = 0; i < s->segment_count; i++)
		if (s->segments[i].blocks)
			place_blocks(&s->segments[i],
				     s->blocks + s->segments[i].first_block);
	if (!is_sorted(s)) {
		qsort(s->segments, s->segment_count, sizeof(*s->segments),
		      by_addr);
		follow_segments(s);
	}
	state = (struct gp_state){ .segments = s->segments,
				   .blocks = s->blocks,
				   .segment_count = s->segment_count,
				   .block_count = s->block_count };
	return gp_state_check(&state, diag);
}

uint64_t gp_state_reserved(const struct gp_state *state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < state->segment_count; i++)
		sum += state->segments[i].size;
	return sum;
}

bool gp_trace_has_allocs(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_ALLOC)
			return true;
	return false;
}

bool gp_trace_has_start(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->device_count; i++)
		if (trace->devices[i].start.segment_count)
			return true;
	return false;
}
