/* SPDX-License-Identifier: MIT */
/* Drafts: traces that can be modified, and the changes made to them. */
#include "trace/draft.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/store.h"

/* ---- copying a trace ---- */

static void *copy(const void *items, size_t n, size_t size)
{
	void *copied = gp_mem_alloc(n, size);

	if (n)
		memcpy(copied, items, n * size);
	return copied;
}

static void copy_names(struct gp_draft_device *draft,
		       const struct gp_device_trace *device)
{
	draft->names_are_own = true;
	if (!device->names)
		return;
	draft->name_room = (size_t)draft->block_ids + 1;
	draft->names = gp_mem_alloc(draft->name_room, sizeof(*draft->names));
	for (uint32_t id = 0; id < draft->block_ids; id++) {
		draft->names[id] = device->names[id];
		draft->names_are_own &=
			!id || draft->names[id] > draft->names[id - 1];
		if (draft->names[id] >= draft->next_name)
			draft->next_name = draft->names[id] + 1;
	}
}

static void copy_device(struct gp_draft_device *draft,
			const struct gp_device_trace *device)
{
	const struct gp_state *start = &device->start;

	*draft = (struct gp_draft_device){
		.events = copy(device->events, device->event_count,
			       sizeof(*draft->events)),
		.event_count = device->event_count,
		.segments = copy(start->segments, start->segment_count,
				 sizeof(*draft->segments)),
		.blocks = copy(start->blocks, start->block_count,
			       sizeof(*draft->blocks)),
		.segment_count = start->segment_count,
		.block_count = start->block_count,
		.block_ids = device->block_ids,
		.total_memory = device->total_memory,
	};
	copy_names(draft, device);
	for (size_t i = 0; i < draft->event_count; i++) {
		struct gp_event *event = &draft->events[i];

		if (event->kind >= GP_FIRST_OUTCOME)
			gp_draft_leave_out(event);
		else if (event->kind == GP_ALLOC || event->kind == GP_FREE)
			event->addr = 0;
		event->flags &= (uint8_t)~GP_REFUSED;
	}
}

void gp_draft_init(struct gp_draft *draft, const struct gp_trace *trace)
{
	*draft = (struct gp_draft){
		.trace = trace,
		.devices = gp_mem_alloc(trace->device_count,
					sizeof(*draft->devices)),
	};
	for (size_t i = 0; i < trace->device_count; i++)
		copy_device(&draft->devices[i], &trace->devices[i]);
}

void gp_draft_release(struct gp_draft *draft)
{
	for (size_t i = 0; draft->devices && i < draft->trace->device_count;
	     i++) {
		free(draft->devices[i].events);
		free(draft->devices[i].segments);
		free(draft->devices[i].blocks);
		free(draft->devices[i].names);
		free(draft->devices[i].additions);
	}
	free(draft->devices);
	*draft = (struct gp_draft){ 0 };
}

/* ---- changing the draft ---- */

void gp_draft_leave_out(struct gp_event *event)
{
	*event = (struct gp_event){ .kind = GP_SNAPSHOT,
				    .id = GP_NO_ID,
				    .site = GP_NO_SITE,
				    .time_us = event->time_us };
}

void gp_draft_set_free(struct gp_block *block)
{
	block->state = GP_INACTIVE;
	block->id = GP_NO_ID;
}

bool gp_draft_has_block(const struct gp_event *event)
{
	return (gp_event_fields((enum gp_event_kind)event->kind) & GP_HAS_ID) &&
	       event->id != GP_NO_ID;
}

uint32_t gp_draft_add_block(struct gp_draft_device *device)
{
	uint32_t id = device->block_ids++;

	if (!device->names)
		return id;
	GP_GROW(device->names, (size_t)device->block_ids, device->name_room);
	device->names[id] = device->next_name++;
	return id;
}

void gp_draft_add(struct gp_draft_device *device, uint64_t before,
		  const struct gp_event *event)
{
	GP_GROW(device->additions, device->addition_count + 1,
		device->addition_room);
	device->additions[device->addition_count++] =
		(struct gp_addition){ before, *event };
}

/* The number of additions before each event; 2^32 of them would be 192 GiB. */
static uint32_t *count_additions(const struct gp_draft_device *device)
{
	uint32_t *before =
		gp_mem_alloc(device->event_count + 2, sizeof(*before));

	for (size_t i = 0; i < device->addition_count; i++)
		before[device->additions[i].before + 1]++;
	for (size_t i = 1; i < device->event_count + 2; i++)
		before[i] += before[i - 1];
	return before;
}

void gp_draft_settle(struct gp_draft_device *device)
{
	size_t n = device->event_count, count = n + device->addition_count;
	struct gp_event *events;
	uint32_t *before;

	if (!device->addition_count)
		return;
	before = count_additions(device);
	/* In place, starting from the last one: a second list would make up
	 * most of the memory that a what-if needs. */
	events = gp_mem_resize(device->events, count, sizeof(*events));
	for (size_t i = n; i-- > 0;)
		events[i + before[i + 1]] = events[i];
	/* before[i] becomes the place of the next addition before event i. */
	for (size_t i = 0; i < device->addition_count; i++) {
		const struct gp_addition *a = &device->additions[i];

		events[a->before + before[a->before]++] = a->event;
	}
	free(before);
	device->events = events;
	device->event_count = count;
	device->addition_count = 0;
}

/* ---- making a trace of the draft ---- */

/* Merges adjacent free blocks. */
static void join_free(struct gp_draft_device *device)
{
	size_t count = 0;

	for (size_t i = 0; i < device->segment_count; i++) {
		struct gp_segment *segment = &device->segments[i];
		size_t first = segment->first_block;
		size_t end = first + segment->blocks, begin = count;

		for (size_t k = first; k < end; k++) {
			const struct gp_block *block = &device->blocks[k];
			bool joins = count > begin &&
				     device->blocks[count - 1].state ==
					     GP_INACTIVE &&
				     block->state == GP_INACTIVE;

			if (joins)
				device->blocks[count - 1].size += block->size;
			else
				device->blocks[count++] = *block;
		}
		segment->first_block = (uint32_t)begin;
		segment->blocks = (uint32_t)(count - begin);
	}
	device->block_count = count;
}

/* Makes ids dense again, in order of appearance. */
struct numbering {
	uint32_t *numbers; /* by old id */
	uint64_t *names;   /* by new id */
	uint32_t count;
	struct gp_map given; /* name -> new id */
};

/* A file may reuse a name once its block is freed. In a draft that block may
 * live longer, so the later one gets a name of its own. */
static uint64_t own_name(struct numbering *n, struct gp_draft_device *device,
			 uint32_t id)
{
	uint64_t name = device->names ? device->names[id] : id;

	if (device->names_are_own)
		return name;
	if (gp_map_get(&n->given, name) != GP_MAP_NONE)
		name = device->next_name++;
	gp_map_put(&n->given, name, n->count);
	return name;
}

static uint32_t number(struct numbering *n, struct gp_draft_device *device,
		       uint32_t id)
{
	if (n->numbers[id] == GP_NO_ID) {
		n->names[n->count] = own_name(n, device, id);
		n->numbers[id] = n->count++;
	}
	return n->numbers[id];
}

static uint64_t *renumber(struct gp_arena *arena,
			  struct gp_draft_device *device,
			  struct gp_device_trace *trace)
{
	struct numbering n = {
		gp_mem_alloc(device->block_ids, sizeof(*n.numbers)),
		gp_mem_alloc(device->block_ids, sizeof(*n.names)),
		0,
		{ 0 },
	};

	memset(n.numbers, 0xff, device->block_ids * sizeof(*n.numbers));
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID)
			device->blocks[i].id =
				number(&n, device, device->blocks[i].id);
	for (size_t i = 0; i < device->event_count; i++)
		if (gp_draft_has_block(&device->events[i]))
			device->events[i].id =
				number(&n, device, device->events[i].id);
	device->block_ids = n.count;
	trace->owners = gp_trace_store_owners(arena, trace, n.numbers, n.count);
	free(n.numbers);
	gp_map_release(&n.given);
	return n.names;
}

static void finish_device(struct gp_arena *arena, struct gp_draft_device *draft,
			  struct gp_device_trace *device)
{
	uint64_t *names;

	gp_draft_settle(draft);
	join_free(draft);
	names = renumber(arena, draft, device);
	gp_arena_adopt(arena, draft->events);
	gp_arena_adopt(arena, draft->segments);
	gp_arena_adopt(arena, draft->blocks);
	gp_arena_adopt(arena, names);
	device->start = (struct gp_state){
		.segments = draft->segments,
		.blocks = draft->blocks,
		.segment_count = draft->segment_count,
		.block_count = draft->block_count,
	};
	device->end = (struct gp_state){ 0 };
	device->counter_count = 0;
	device->events = draft->events;
	device->event_count = draft->event_count;
	device->block_ids = draft->block_ids;
	device->names = names;
	device->total_memory = draft->total_memory;
	draft->events = NULL;
	draft->segments = NULL;
	draft->blocks = NULL;
}

struct gp_trace *gp_draft_finish(struct gp_draft *draft)
{
	const struct gp_trace *trace = draft->trace;
	struct gp_device_trace *devices;
	struct gp_trace_store *store = gp_trace_store_derive(trace, &devices);

	if (draft->release)
		store->trace.release =
			(struct gp_release_range){ draft->release,
						   draft->release, "" };
	for (size_t i = 0; i < trace->device_count; i++)
		finish_device(&store->arena, &draft->devices[i], &devices[i]);
	gp_draft_release(draft);
	return &store->trace;
}

/* ---- without the memory of others ---- */

static void remove_others(struct gp_arena *arena,
			  struct gp_device_trace *device)
{
	struct gp_event *events =
		gp_arena_alloc(arena, device->event_count, sizeof(*events));

	for (size_t i = 0; i < device->event_count; i++) {
		events[i] = device->events[i];
		if (events[i].kind == GP_OTHER_MEMORY)
			events[i].size = 0;
	}
	device->events = events;
}

struct gp_trace *gp_trace_without_others(const struct gp_trace *trace)
{
	struct gp_device_trace *devices;
	struct gp_trace_store *store;
	bool has_others = false;

	for (size_t i = 0; i < trace->device_count; i++)
		has_others |= gp_trace_others(&trace->devices[i]) > 0;
	if (!has_others)
		return NULL;
	store = gp_trace_store_derive(trace, &devices);
	for (size_t i = 0; i < trace->device_count; i++)
		remove_others(&store->arena, &devices[i]);
	return &store->trace;
}

/*
 * ---- without names ----
 *
 * Source lines, marks and modules become "site 17", "step-B 12" and "module 3".
 * Replays, and the results of explain, remain the same.
 */

enum role { KEPT, MODULE, SITE, MARK };

struct namer {
	const struct gp_trace *trace;
	uint8_t *roles; /* enum role of each text */
	struct gp_intern stems;
	struct gp_arena *arena;
	uint32_t sites, modules;
};

/* A text that is both a source line and a mark counts as a mark; a module's
 * text may also be one of the two. */
static void find_roles(struct namer *n)
{
	const struct gp_trace *trace = n->trace;

	for (size_t i = 0; i < trace->owner_count; i++) {
		const struct gp_owner *owner = &trace->owners[i];

		if (owner->module != GP_NO_ID)
			n->roles[owner->module] = MODULE;
		if (owner->type != GP_NO_ID)
			n->roles[owner->type] = MODULE;
	}
	for (size_t i = 0; i < trace->site_count; i++)
		n->roles[trace->sites[i].text] = SITE;
	for (size_t d = 0; d < trace->device_count; d++) {
		const struct gp_device_trace *t = &trace->devices[d];

		for (size_t i = 0; i < t->event_count; i++)
			if (t->events[i].kind == GP_MARK)
				n->roles[t->events[i].text] = MARK;
	}
}

/* Converts 0, 1, ... 26 to "A", "B", ... "AA": names of steps are distinguished
 * by letters. */
static const char *letters(uint32_t number, char text[8])
{
	char *at = text + 7;

	*at = '\0';
	for (number++; number; number = (number - 1) / 26)
		*--at = (char)('A' + (number - 1) % 26);
	return at;
}

/* Splits "ProfilerStep#12" into "ProfilerStep#" and "12": texts that differ
 * only in digits share a name. */
static size_t part(const char *text, bool digits, char to[64])
{
	size_t n = 0;

	for (; *text && n < 63; text++)
		if (!isdigit((unsigned char)*text) != digits)
			to[n++] = *text;
	to[n] = '\0';
	return n;
}

static const char *mark_name(struct namer *n, const char *text)
{
	char stem[64], digits[64], order[8], name[96];
	uint32_t number = gp_intern(&n->stems, stem, part(text, false, stem));

	part(text, true, digits);
	snprintf(name, sizeof(name), "%s-%s%s%s",
		 strcasestr(text, "step") ? "step" : "mark",
		 letters(number, order), *digits ? " " : "", digits);
	return gp_arena_text(n->arena, name, strlen(name));
}

static const char *number_name(struct namer *n, const char *what,
			       uint32_t *count)
{
	char name[24];

	snprintf(name, sizeof(name), "%s %u", what, ++*count);
	return gp_arena_text(n->arena, name, strlen(name));
}

static const char *name_text(struct namer *n, size_t i)
{
	switch (n->roles[i]) {
	case MODULE: return number_name(n, "module", &n->modules);
	case SITE: return number_name(n, "site", &n->sites);
	case MARK: return mark_name(n, n->trace->texts[i]);
	default: return n->trace->texts[i];
	}
}

/* The part that says how many values were read, before ": " and the places
 * where. */
static const char *without_places(struct gp_arena *arena, const char *values)
{
	const char *end = values ? strstr(values, ": ") : NULL;

	return end ? gp_arena_text(arena, values, (size_t)(end - values))
		   : values;
}

struct gp_trace *gp_trace_anonymous(const struct gp_trace *trace)
{
	struct gp_trace_store *store = gp_trace_store_create();
	struct namer n = { .trace = trace, .arena = &store->arena };
	const char **texts = gp_arena_alloc(&store->arena, trace->text_count,
					    sizeof(*texts));

	n.roles = gp_arena_alloc(&store->arena, trace->text_count, 1);
	find_roles(&n);
	for (size_t i = 0; i < trace->text_count; i++)
		texts[i] = name_text(&n, i);
	gp_intern_release(&n.stems);
	store->trace = *trace;
	store->trace.memory = store;
	store->trace.texts = texts;
	store->trace.source = "gpupool-trace";
	store->trace.values = without_places(&store->arena, trace->values);
	return &store->trace;
}
