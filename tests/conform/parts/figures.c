/* SPDX-License-Identifier: MIT */
/* Counters and memory at the end of a trial. */
#include "figures.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* ---- names ---- */

#define NUMBER(member, since)                                                  \
	{                                                                      \
#member, offsetof(struct gp_stats, member), since              \
	}

static const struct number {
	const char *name;
	size_t offset;
	uint8_t since;
} numbers[] = {
	NUMBER(num_alloc_retries, 0),	NUMBER(num_ooms, 0),
	NUMBER(num_oom_rejections, 12), NUMBER(num_sync_all_streams, 4),
	NUMBER(num_device_alloc, 4),	NUMBER(num_device_free, 4),
	NUMBER(max_split_size, 0),
};
#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

static int64_t number_of(const struct gp_stats *s, const struct number *number)
{
	return *(const int64_t *)((const char *)s + number->offset);
}

/* ---- differences ---- */

struct note {
	char *what;
	size_t room;
};

static bool differs(const struct note *note, const char *name, const char *kind,
		    const char *part, int64_t ours, int64_t theirs)
{
	if (ours == theirs)
		return false;
	snprintf(note->what, note->room,
		 "%s%s%s%s%s: PyTorch %" PRId64 ", ours %" PRId64, name,
		 *kind ? "." : "", kind, *part ? "." : "", part, theirs, ours);
	return true;
}

static bool stat_differs(const struct note *note, const char *name,
			 const char *kind, const struct gp_stat *ours,
			 const struct gp_stat *theirs, bool only_current)
{
	for (size_t part = 0; part < (only_current ? 1 : GP_STAT_PARTS); part++)
		if (differs(note, name, kind, gp_stat_part_names[part],
			    gp_stat_part(ours, part),
			    gp_stat_part(theirs, part)))
			return true;
	return false;
}

static bool is_split_stat(int id)
{
	return id == GP_STAT_INACTIVE_SPLIT ||
	       id == GP_STAT_INACTIVE_SPLIT_BYTES;
}

static bool counters_differ(const struct note *note, const struct gp_stats *a,
			    const struct gp_stats *b, uint8_t release,
			    bool is_strict)
{
	for (int id = 0; id < GP_STAT_COUNT; id++)
		for (int kind = 0; kind < 3; kind++)
			if (stat_differs(note, gp_stat_names[id],
					 gp_stat_kind_names[kind],
					 &a->by_pool[id][kind],
					 &b->by_pool[id][kind],
					 !is_strict && is_split_stat(id)))
				return true;
	for (size_t i = 0; i < NUMBERS; i++)
		if (release >= numbers[i].since &&
		    differs(note, numbers[i].name, "", "",
			    number_of(a, &numbers[i]),
			    number_of(b, &numbers[i])))
			return true;
	return stat_differs(note, "oversize_allocations", "",
			    &a->oversize_allocations, &b->oversize_allocations,
			    false) ||
	       stat_differs(note, "oversize_segments", "",
			    &a->oversize_segments, &b->oversize_segments,
			    false);
}

static bool block_differs(const struct note *note, const struct gp_block *a,
			  const struct gp_block *b)
{
	if (a->addr == b->addr && a->size == b->size && a->state == b->state &&
	    (a->state == GP_INACTIVE || a->requested == b->requested))
		return false;
	snprintf(note->what, note->room,
		 "the block at the end: PyTorch %#" PRIx64 " size %" PRIu64
		 " state %u, ours %#" PRIx64 " size %" PRIu64 " state %u",
		 b->addr, b->size, b->state, a->addr, a->size, a->state);
	return true;
}

static bool segment_differs(const struct note *note, const struct gp_segment *a,
			    const struct gp_segment *b)
{
	if (a->addr == b->addr && a->size == b->size &&
	    a->stream == b->stream && a->is_small == b->is_small &&
	    a->blocks == b->blocks)
		return false;
	snprintf(note->what, note->room,
		 "the segment at the end: PyTorch %#" PRIx64 " size %" PRIu64
		 " blocks %u, ours %#" PRIx64 " size %" PRIu64 " blocks %u",
		 b->addr, b->size, b->blocks, a->addr, a->size, a->blocks);
	return true;
}

static bool states_differ(const struct note *note, const struct gp_state *a,
			  const struct gp_state *b)
{
	if (differs(note, "segments at the end", "", "",
		    (int64_t)a->segment_count, (int64_t)b->segment_count))
		return true;
	for (size_t i = 0; i < a->segment_count; i++)
		if (segment_differs(note, &a->segments[i], &b->segments[i]))
			return true;
	if (differs(note, "blocks at the end", "", "", (int64_t)a->block_count,
		    (int64_t)b->block_count))
		return true;
	for (size_t i = 0; i < a->block_count; i++)
		if (block_differs(note, &a->blocks[i], &b->blocks[i]))
			return true;
	return false;
}

bool figures_differ(const struct outcome *ours, const struct outcome *theirs,
		    bool is_strict, char *what, size_t room)
{
	const struct gp_replay_result *a = &ours->result, *b = &theirs->result;
	const struct note note = { what, room };

	return counters_differ(&note, &a->stats, &b->stats, ours->release,
			       is_strict) ||
	       states_differ(&note, &a->end, &b->end) ||
	       differs(&note, "requests refused", "", "", (int64_t)a->refused,
		       (int64_t)b->refused);
}

/* ---- each number in turn ---- */

static void tell_stat(const struct gp_stat *stat,
		      void (*number)(void *arg, uint64_t number), void *arg)
{
	for (int part = 0; part < 4; part++)
		number(arg, (uint64_t)gp_stat_part(stat, part));
}

void figures_counters(const struct outcome *outcome,
		      void (*number)(void *arg, uint64_t number), void *arg)
{
	const struct gp_stats *s = &outcome->result.stats;

	for (int id = 0; id < GP_STAT_COUNT; id++)
		for (int kind = 0; kind < 3; kind++)
			tell_stat(&s->by_pool[id][kind], number, arg);
	tell_stat(&s->oversize_allocations, number, arg);
	tell_stat(&s->oversize_segments, number, arg);
	for (size_t i = 0; i < NUMBERS; i++)
		if (outcome->release >= numbers[i].since)
			number(arg, (uint64_t)number_of(s, &numbers[i]));
}

void figures_state(const struct outcome *outcome,
		   void (*number)(void *arg, uint64_t number), void *arg)
{
	const struct gp_state *state = &outcome->result.end;

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];

		number(arg, segment->addr);
		number(arg, segment->size);
		number(arg, segment->stream);
		number(arg, segment->is_small);
	}
	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];

		number(arg, block->addr);
		number(arg, block->size);
		number(arg, block->state);
		if (block->state != GP_INACTIVE)
			number(arg, block->requested);
	}
}
