/* SPDX-License-Identifier: MIT */
/* The trace made of what a build holds: arrays are handed over, not copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "trace/build_internal.h"
#include "trace/store.h"

/* Shrinks a malloc'ed array and gives it to the trace. */
static const void *hand_over(struct gp_trace_store *store, void *items,
			     size_t count, size_t size)
{
	if (!count) {
		free(items);
		return NULL;
	}
	items = gp_mem_shrink(items, count, size);
	gp_arena_adopt(&store->arena, items);
	return items;
}

static void hand_over_state(struct gp_trace_store *store, struct gp_state *to,
			    struct gp_build_state *from)
{
	to->segment_count = from->segment_count;
	to->segments = hand_over(store, from->segments, from->segment_count,
				 sizeof(*from->segments));
	to->block_count = from->block_count;
	to->blocks = hand_over(store, from->blocks, from->block_count,
			       sizeof(*from->blocks));
	from->segments = NULL;
	from->blocks = NULL;
}

static void hand_over_device(struct gp_trace_store *store,
			     struct gp_device_trace *to,
			     struct gp_build_device *from)
{
	to->device = from->ordinal;
	to->total_memory = from->total_memory;
	to->event_count = from->event_count;
	to->events = hand_over(store, from->events, from->event_count,
			       sizeof(*from->events));
	to->block_ids = from->block_ids;
	if (from->names)
		to->names = hand_over(store, from->names, from->block_ids,
				      sizeof(*from->names));
	to->guesses = from->guesses;
	to->counter_count = from->counter_count;
	to->counters = hand_over(store, from->counters, from->counter_count,
				 sizeof(*from->counters));
	from->counters = NULL;
	from->events = NULL;
	from->names = NULL;
	hand_over_state(store, &to->start, &from->start);
	hand_over_state(store, &to->end, &from->end);
}

/* Cut to fit, which must not leave half a character. */
static void join(char *to, size_t room, const char *first, const char *last)
{
	size_t length;

	if (!strcmp(first, last))
		last = "";
	length = (size_t)snprintf(to, room, "%s%s%s", first,
				  *first && *last ? "; " : "", last);
	if (length >= room)
		length = room - 1;
	while (!gp_utf8_is_clean(to, length))
		to[--length] = '\0';
}

/* A key that is there proves more than one that is not: a tool may have
 * dropped it. */
static void set_release(struct gp_release_range *range,
			const struct gp_build *build)
{
	bool is_empty = build->release_last < build->release_first;

	range->first = build->release_first;
	range->last = is_empty ? range->first : build->release_last;
	join(range->why, sizeof(range->why), build->why_first,
	     is_empty ? "" : build->why_last);
}

static void hand_over_tables(struct gp_trace_store *store,
			     struct gp_build *build)
{
	struct gp_trace *trace = &store->trace;

	trace->stream_count = build->stream_count;
	trace->streams = hand_over(store, build->streams, build->stream_count,
				   sizeof(*build->streams));
	trace->pool_count = build->pool_count;
	trace->pools = hand_over(store, build->pools, build->pool_count,
				 sizeof(*build->pools));
	trace->site_count = build->site_count;
	trace->sites = hand_over(store, build->sites, build->site_count,
				 sizeof(*build->sites));
	build->streams = NULL;
	build->pools = NULL;
	build->sites = NULL;
	store->texts = build->texts;
	build->texts = (struct gp_intern){ 0 };
	trace->texts = store->texts.texts;
	trace->text_count = store->texts.count;
}

struct gp_trace *gp_build_assemble(struct gp_build *build)
{
	struct gp_trace_store *store = gp_trace_store_create();
	struct gp_trace *trace = &store->trace;
	struct gp_device_trace *devices;
	const char *source = build->source ? build->source : "";
	size_t i;

	devices = gp_arena_alloc(&store->arena, build->device_count,
				 sizeof(*devices));
	for (i = 0; i < build->device_count; i++)
		hand_over_device(store, &devices[i], &build->devices[i]);
	trace->devices = devices;
	trace->device_count = build->device_count;
	hand_over_tables(store, build);
	trace->source = gp_arena_text(&store->arena, source, strlen(source));
	if (build->settings)
		trace->settings = gp_arena_text(&store->arena, build->settings,
						strlen(build->settings));
	if (build->values)
		trace->values = gp_arena_text(&store->arena, build->values,
					      strlen(build->values));
	set_release(&trace->release, build);
	trace->is_complete = build->is_complete;
	return trace;
}
