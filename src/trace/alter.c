/* Altered traces: copies with changed events and start states. */
#include "gpupool/alter.h"

#include <string.h>

#include "trace/store.h"

struct altering {
	const struct gp_alter *alter;
	struct gp_arena *arena;
	uint32_t device;
	const struct gp_addition *next, *end; /* additions not yet put in */
};

/* ---- the start state ---- */

static bool stays_live(const struct altering *a, const struct gp_block *block)
{
	return block->state == GP_INACTIVE || !a->alter->block ||
	       a->alter->block(a->alter->arg, a->device, block);
}

/* Puts a block behind those of the segment; free ones join. */
static void put_block(struct gp_segment *segment, struct gp_block *blocks,
		      const struct gp_block *block)
{
	struct gp_block *last =
		segment->blocks
			? &blocks[segment->first_block + segment->blocks - 1]
			: NULL;

	if (last && last->state == GP_INACTIVE && block->state == GP_INACTIVE)
		last->size += block->size;
	else
		blocks[segment->first_block + segment->blocks++] = *block;
}

static void alter_segment(const struct altering *a, const struct gp_state *from,
			  struct gp_segment *segment, struct gp_block *blocks,
			  size_t *block_count)
{
	uint32_t first = segment->first_block, count = segment->blocks;

	segment->first_block = (uint32_t)*block_count;
	segment->blocks = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct gp_block block = from->blocks[first + i];

		if (!stays_live(a, &block)) {
			block.state = GP_INACTIVE;
			block.id = GP_NO_ID;
		}
		put_block(segment, blocks, &block);
	}
	*block_count += segment->blocks;
	if (a->alter->segment)
		a->alter->segment(a->alter->arg, a->device, segment);
}

static struct gp_state alter_start(const struct altering *a,
				   const struct gp_state *from)
{
	struct gp_segment *segments = gp_arena_alloc(
		a->arena, from->segment_count, sizeof(*segments));
	struct gp_block *blocks =
		gp_arena_alloc(a->arena, from->block_count, sizeof(*blocks));
	size_t block_count = 0;

	for (size_t i = 0; i < from->segment_count; i++) {
		segments[i] = from->segments[i];
		alter_segment(a, from, &segments[i], blocks, &block_count);
	}
	return (struct gp_state){ .segments = segments,
				  .blocks = blocks,
				  .segment_count = from->segment_count,
				  .block_count = block_count };
}

/* ---- the events ---- */

static const struct gp_event left_out = {
	.kind = GP_SNAPSHOT,
	.id = GP_NO_ID,
	.site = GP_NO_SITE,
};

static size_t additions_of(const struct altering *a, uint32_t device)
{
	size_t n = 0;

	while (a->next + n < a->end && a->next[n].device == device)
		n++;
	return n;
}

static struct gp_event *put_additions(struct altering *a, uint64_t before,
				      struct gp_event *to)
{
	while (a->next < a->end && a->next->device == a->device &&
	       a->next->before <= before)
		*to++ = a->next++->event;
	return to;
}

static void alter_events(struct altering *a, const struct gp_device_trace *from,
			 struct gp_device_trace *device)
{
	size_t count = from->event_count + additions_of(a, a->device);
	struct gp_event *events =
		gp_arena_alloc(a->arena, count, sizeof(*events));
	struct gp_event *to = events;

	for (size_t i = 0; i < from->event_count; i++) {
		struct gp_event event = from->events[i];

		to = put_additions(a, i, to);
		if (a->alter->event &&
		    !a->alter->event(a->alter->arg, a->device, i, &event)) {
			event = left_out;
			event.time_us = from->events[i].time_us;
		}
		*to++ = event;
	}
	put_additions(a, from->event_count, to);
	device->events = events;
	device->event_count = count;
}

/* ---- the trace ---- */

static void alter_device(struct altering *a, const struct gp_device_trace *from,
			 struct gp_device_trace *device)
{
	*device = *from;
	device->end = (struct gp_state){ 0 };
	device->counter_count = 0;
	if (from->start.segment_count)
		device->start = alter_start(a, &from->start);
	alter_events(a, from, device);
}

struct gp_trace *gp_trace_alter(const struct gp_trace *trace,
				const struct gp_alter *alter)
{
	struct gp_trace_store *store = gp_trace_store_create();
	struct gp_device_trace *devices = gp_arena_alloc(
		&store->arena, trace->device_count, sizeof(*devices));
	struct altering a = {
		.alter = alter,
		.arena = &store->arena,
		.next = alter->additions,
		.end = alter->additions
			       ? alter->additions + alter->addition_count
			       : NULL,
	};

	store->trace = *trace;
	store->trace.memory = store;
	store->trace.devices = devices;
	for (uint32_t i = 0; i < trace->device_count; i++) {
		a.device = i;
		alter_device(&a, &trace->devices[i], &devices[i]);
	}
	return &store->trace;
}
