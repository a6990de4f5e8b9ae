/* SPDX-License-Identifier: MIT */
/* A build: a trace while a reader fills it. */
#include "trace/build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "gpupool/knob.h"
#include "trace/build_internal.h"
#include "trace/store.h"

/* ---- the tables: texts, sites, streams, pools, and provenance ---- */

/* The most entries of each table. GP_NO_STREAM and GP_ALL_STREAMS are not
 * streams. */
#define STREAMS (GP_NO_STREAM - 1)
#define POOLS	UINT16_MAX

/* gp_utf8_clean() replaces an invalid byte by the 3 bytes of U+FFFD. */
#define UTF8_GROWTH 3

static char *scratch(struct gp_build *build, size_t bytes)
{
	GP_GROW(build->scratch, bytes, build->scratch_room);
	return build->scratch;
}

uint32_t gp_build_text(struct gp_build *build, const char *text, size_t length)
{
	uint32_t index;
	char *clean;

	if (gp_utf8_is_clean(text, length))
		return gp_intern(&build->texts, text, length);
	clean = gp_mem_alloc(length, UTF8_GROWTH);
	length = gp_utf8_clean(text, length, clean);
	index = gp_intern(&build->texts, clean, length);
	free(clean);
	return index;
}

uint32_t gp_build_frame(struct gp_build *build, const char *file, uint64_t line,
			const char *function)
{
	size_t room = strlen(file) + strlen(function) + 32;
	char *text = scratch(build, room);
	int length;

	if (!line || !strcmp(file, "??"))
		return gp_build_text(build, function, strlen(function));
	length =
		snprintf(text, room, "%s:%" PRIu64 " %s", file, line, function);
	return gp_build_text(build, text, (size_t)length);
}

uint32_t gp_build_call(struct gp_build *build, uint32_t text, uint32_t caller)
{
	uint64_t key = (uint64_t)caller << 32 | text;
	uint32_t site = gp_map_get(&build->site_of, key);

	assert(text < build->texts.count);
	assert(caller == GP_NO_SITE || caller < build->site_count);
	if (site != GP_MAP_NONE)
		return site;
	site = (uint32_t)build->site_count;
	GP_GROW(build->sites, site + 1, build->site_room);
	build->sites[build->site_count++] = (struct gp_site){ text, caller };
	gp_map_put(&build->site_of, key, site);
	return site;
}

uint32_t gp_build_site(struct gp_build *build, const uint32_t *frames,
		       size_t count)
{
	uint32_t site = GP_NO_SITE;

	while (count)
		site = gp_build_call(build, frames[--count], site);
	return site;
}

enum gp_status gp_build_stream(struct gp_build *build, uint64_t handle,
			       uint16_t *stream, struct gp_diag *diag)
{
	uint32_t found;

	if (build->stream_count &&
	    build->streams[build->last_stream] == handle) {
		*stream = build->last_stream;
		return GP_OK;
	}
	found = gp_map_get(&build->stream_of, handle);
	if (found == GP_MAP_NONE) {
		if (build->stream_count == STREAMS)
			return gp_diag_set(diag, GP_INPUT,
					   "more than %d streams", STREAMS);
		found = (uint32_t)build->stream_count;
		GP_GROW(build->streams, found + 1, build->stream_room);
		build->streams[build->stream_count++] = handle;
		gp_map_put(&build->stream_of, handle, found);
	}
	*stream = build->last_stream = (uint16_t)found;
	return GP_OK;
}

enum gp_status gp_build_pool(struct gp_build *build, struct gp_pool_id id,
			     uint16_t *pool, struct gp_diag *diag)
{
	uint32_t found;

	if (build->pool_count &&
	    build->pools[build->last_pool].first == id.first &&
	    build->pools[build->last_pool].second == id.second) {
		*pool = build->last_pool;
		return GP_OK;
	}
	found = gp_intern(&build->pool_of, (const char *)&id, sizeof(id));
	if (found >= POOLS)
		return gp_diag_set(diag, GP_INPUT, "more than %d memory pools",
				   POOLS);
	if (found == build->pool_count) {
		GP_GROW(build->pools, found + 1, build->pool_room);
		build->pools[build->pool_count++] = id;
	}
	*pool = build->last_pool = (uint16_t)found;
	return GP_OK;
}

static bool resolve(uint32_t *site, const uint32_t *sites, size_t count)
{
	if (*site == GP_NO_SITE)
		return true;
	if (*site >= count)
		return false;
	*site = sites[*site];
	return true;
}

static bool resolve_state(struct gp_build_state *state, const uint32_t *sites,
			  size_t count)
{
	size_t i;

	for (i = 0; i < state->segment_count; i++)
		if (!resolve(&state->segments[i].site, sites, count))
			return false;
	for (i = 0; i < state->block_count; i++)
		if (!resolve(&state->blocks[i].site, sites, count))
			return false;
	return true;
}

static enum gp_status resolve_device(struct gp_build *build,
				     struct gp_build_device *d,
				     const uint32_t *sites, size_t count,
				     struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->event_count; i++)
		if (!resolve(&d->events[i].site, sites, count)) {
			gp_build_name_event(build, d, i, diag);
			gp_diag_hint(diag, "the file's \"sites\" has %zu",
				     count);
			return gp_diag_set(diag, GP_INPUT,
					   "there is no site %u",
					   d->events[i].site);
		}
	if (!resolve_state(&d->start, sites, count) ||
	    !resolve_state(&d->end, sites, count)) {
		gp_diag_record(diag, "device %u", d->ordinal);
		gp_diag_hint(diag, "the file's \"sites\" has %zu", count);
		return gp_diag_set(
			diag, GP_INPUT,
			"a segment or block has a site that does not exist");
	}
	return GP_OK;
}

enum gp_status gp_build_sites(struct gp_build *build, const uint32_t *sites,
			      size_t count, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t i;

	for (i = 0; i < build->device_count && !status; i++)
		status = resolve_device(build, &build->devices[i], sites, count,
					diag);
	return status;
}

static void set_text(char **to, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	free(*to);
	*to = NULL;
	if (!text)
		return;
	*to = gp_mem_alloc(length + 1, UTF8_GROWTH);
	gp_utf8_clean(text, length, *to);
}

void gp_build_source(struct gp_build *build, const char *source)
{
	set_text(&build->source, source);
}

void gp_build_settings(struct gp_build *build, const char *conf)
{
	set_text(&build->settings, conf);
}

void gp_build_values(struct gp_build *build, const char *values)
{
	set_text(&build->values, values);
}

void gp_build_not_told(struct gp_build *build, const char *text)
{
	set_text(&build->not_told, text);
}

/* ---- devices and their events ---- */

struct gp_build *gp_build_create(enum gp_build_kind kind)
{
	struct gp_build *build = gp_mem_alloc(1, sizeof(*build));
	struct gp_diag ignored;
	uint16_t stream, pool;

	build->kind = kind;
	/* Unless a device of the history turns out to start with segments. */
	build->is_complete = kind == GP_BUILD_HISTORY;
	build->release_first = GP_RELEASE_FIRST;
	build->release_last = GP_RELEASE_LAST;
	gp_build_stream(build, 0, &stream, &ignored);
	gp_build_pool(build, (struct gp_pool_id){ 0, 0 }, &pool, &ignored);
	return build;
}

/* Frees the arrays of a state. */
static void release_state(struct gp_build_state *state)
{
	free(state->segments);
	free(state->blocks);
	free(state->names);
	*state = (struct gp_build_state){ 0 };
}

void gp_build_destroy(struct gp_build *build)
{
	size_t i;

	if (!build)
		return;
	for (i = 0; i < build->device_count; i++) {
		free(build->devices[i].events);
		free(build->devices[i].names);
		free(build->devices[i].counters);
		free(build->devices[i].start_claims.list);
		free(build->devices[i].claims.list);
		free(build->devices[i].owners);
		release_state(&build->devices[i].start);
		release_state(&build->devices[i].end);
	}
	free(build->devices);
	free(build->marks);
	free(build->sites);
	free(build->owners);
	free(build->streams);
	free(build->pools);
	free(build->scratch);
	free(build->source);
	free(build->settings);
	free(build->values);
	free(build->not_told);
	gp_intern_release(&build->texts);
	gp_intern_release(&build->pool_of);
	gp_map_release(&build->site_of);
	gp_map_release(&build->stream_of);
	free(build);
}

enum gp_status gp_build_device(struct gp_build *build, uint64_t ordinal,
			       uint32_t *device, struct gp_diag *diag)
{
	size_t i;

	if (ordinal >= GP_DEVICES) {
		gp_diag_hint(diag, "devices number from 0 to %d",
			     GP_DEVICES - 1);
		return gp_diag_set(diag, GP_INPUT, "there is no device %llu",
				   (unsigned long long)ordinal);
	}
	for (i = 0; i < build->device_count; i++)
		if (build->devices[i].ordinal == ordinal)
			break;
	if (i == build->device_count) {
		GP_GROW(build->devices, i + 1, build->device_room);
		build->devices[build->device_count++] =
			(struct gp_build_device){ .ordinal =
							  (uint32_t)ordinal };
	}
	*device = (uint32_t)i;
	return GP_OK;
}

static struct gp_build_device *at(struct gp_build *build, uint32_t device)
{
	assert(device < build->device_count);
	return &build->devices[device];
}

void gp_build_total_memory(struct gp_build *build, uint32_t device,
			   uint64_t bytes)
{
	at(build, device)->total_memory = bytes;
}

void gp_build_guesses(struct gp_build *build, uint32_t device,
		      const struct gp_guesses *guesses)
{
	at(build, device)->guesses = *guesses;
}

void gp_build_counter(struct gp_build *build, uint32_t device, const char *name,
		      int64_t value)
{
	struct gp_build_device *d = at(build, device);
	uint32_t text = gp_build_text(build, name, strlen(name));

	GP_GROW(d->counters, d->counter_count + 1, d->counter_room);
	d->counters[d->counter_count++] =
		(struct gp_counter){ .value = value, .text = text };
}

void gp_build_owner(struct gp_build *build, const struct gp_owner *owner)
{
	GP_GROW(build->owners, build->owner_count + 1, build->owner_room);
	build->owners[build->owner_count++] = *owner;
}

void gp_build_claim(struct gp_build *build, uint32_t device, uint64_t name,
		    uint32_t owner, bool is_at_start)
{
	struct gp_build_device *d = at(build, device);
	struct gp_build_claims *claims =
		is_at_start ? &d->start_claims : &d->claims;

	GP_GROW(claims->list, claims->count + 1, claims->room);
	claims->list[claims->count++] = (struct gp_build_claim){
		.name = name,
		.behind = d->event_count,
		.owner = owner,
	};
}

void gp_build_end_state(struct gp_build *build, uint32_t device, bool is_end)
{
	at(build, device)->at_end = is_end;
}

static void grow_events(struct gp_build_device *d, size_t n, bool has_names)
{
	size_t need = d->event_count + n;

	GP_GROW(d->events, need, d->event_room);
	if (has_names)
		GP_GROW(d->names, need, d->name_room);
}

/* Whether the event completes the free directly before it: a single event then
 * stands for both. */
static bool ends_free(const struct gp_build_device *d,
		      const struct gp_event *event)
{
	const struct gp_event *last;

	if (event->kind != GP_FREE_COMPLETED || !d->event_count)
		return false;
	last = &d->events[d->event_count - 1];
	return last->kind == GP_FREE && last->addr == event->addr &&
	       !(last->flags & GP_AT_ONCE);
}

void gp_build_event(struct gp_build *build, uint32_t device,
		    const struct gp_event *event, uint64_t name)
{
	struct gp_build_device *d = at(build, device);

	if (build->kind == GP_BUILD_HISTORY && ends_free(d, event)) {
		d->events[d->event_count - 1].flags |= GP_AT_ONCE;
		return;
	}
	if (d->event_count == d->event_room)
		grow_events(d, 1, build->kind == GP_BUILD_REQUESTS);
	d->events[d->event_count] = *event;
	if (build->kind == GP_BUILD_REQUESTS)
		d->names[d->event_count] = name;
	d->event_count++;
}

struct gp_event *gp_build_room(struct gp_build *build, uint32_t device,
			       size_t n)
{
	struct gp_build_device *d = at(build, device);

	assert(build->kind == GP_BUILD_HISTORY);
	grow_events(d, n, false);
	return d->events + d->event_count;
}

void gp_build_events(struct gp_build *build, uint32_t device, size_t n)
{
	struct gp_build_device *d = at(build, device);
	const struct gp_event *event = d->events + d->event_count;
	const struct gp_event *end = event + n;

	for (; event < end; event++)
		if (ends_free(d, event))
			d->events[d->event_count - 1].flags |= GP_AT_ONCE;
		else if (event == d->events + d->event_count)
			d->event_count++;
		else
			d->events[d->event_count++] = *event;
}

static struct gp_build_state *state_of(struct gp_build *build, uint32_t device)
{
	struct gp_build_device *d = at(build, device);

	if (build->kind == GP_BUILD_HISTORY || d->at_end)
		return &d->end;
	return &d->start;
}

void gp_build_segment(struct gp_build *build, uint32_t device,
		      const struct gp_segment *segment)
{
	struct gp_build_state *s = state_of(build, device);

	GP_GROW(s->segments, s->segment_count + 1, s->segment_room);
	s->segments[s->segment_count] = *segment;
	s->segments[s->segment_count].first_block = (uint32_t)s->block_count;
	s->segments[s->segment_count].blocks = 0;
	s->segment_count++;
}

enum gp_status gp_build_block(struct gp_build *build, uint32_t device,
			      const struct gp_block *block, uint64_t name,
			      struct gp_diag *diag)
{
	struct gp_build_state *s = state_of(build, device);

	if (!s->segment_count)
		return gp_diag_set(diag, GP_INPUT,
				   "a block comes before any segment");
	if (s->block_count == UINT32_MAX - 1)
		return gp_diag_set(diag, GP_INPUT, "too many blocks");
	GP_GROW(s->blocks, s->block_count + 1, s->block_room);
	GP_GROW(s->names, s->block_count + 1, s->name_room);
	s->blocks[s->block_count] = *block;
	s->names[s->block_count] = name;
	s->block_count++;
	s->segments[s->segment_count - 1].blocks++;
	return GP_OK;
}

void gp_build_annotation(struct gp_build *build, uint64_t ordinal,
			 uint32_t text, enum gp_mark_stage stage,
			 uint64_t time_us)
{
	if (ordinal >= GP_DEVICES || build->mark_count == UINT32_MAX)
		return;
	GP_GROW(build->marks, build->mark_count + 1, build->mark_room);
	build->marks[build->mark_count] = (struct gp_build_mark){
		.time_us = time_us,
		.ordinal = (uint32_t)ordinal,
		.order = (uint32_t)build->mark_count,
		.text = text,
		.stage = (uint16_t)stage,
	};
	build->mark_count++;
}

void gp_build_complete(struct gp_build *build, bool is_complete)
{
	build->is_complete = is_complete;
}

void gp_build_release_from(struct gp_build *build, uint8_t minor,
			   const char *why)
{
	if (minor <= build->release_first)
		return;
	build->release_first = minor;
	snprintf(build->why_first, sizeof(build->why_first), "%s", why);
}

void gp_build_release_to(struct gp_build *build, uint8_t minor, const char *why)
{
	if (minor >= build->release_last)
		return;
	build->release_last = minor;
	snprintf(build->why_last, sizeof(build->why_last), "%s", why);
}

void gp_build_frees_at_once(struct gp_build *build)
{
	struct gp_event *event;
	size_t i, k;

	for (i = 0; i < build->device_count; i++)
		for (k = 0; k < build->devices[i].event_count; k++) {
			event = &build->devices[i].events[k];
			if (event->kind == GP_FREE &&
			    !(event->flags & GP_BUILD_LATE))
				event->flags |= GP_AT_ONCE;
		}
}

void gp_build_name_event(const struct gp_build *build,
			 const struct gp_build_device *device, size_t event,
			 struct gp_diag *diag)
{
	if (build->device_count > 1)
		gp_diag_record(diag, "device %u, event %zu", device->ordinal,
			       event);
	else
		gp_diag_record(diag, "event %zu", event);
}

/* ---- the finished trace: arrays are handed over, not copied ---- */

/* Shrinks an array from malloc and hands it over to the trace. */
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
	if (from->owners)
		to->owners = hand_over(store, from->owners, from->block_ids,
				       sizeof(*from->owners));
	from->owners = NULL;
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

/* Truncates the result to fit, at the end of a character. */
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

/* The presence of a key proves more than its absence, since a tool may have
 * removed a key. */
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
	trace->owner_count = build->owner_count;
	trace->owners = hand_over(store, build->owners, build->owner_count,
				  sizeof(*build->owners));
	build->streams = NULL;
	build->pools = NULL;
	build->sites = NULL;
	build->owners = NULL;
	store->texts = build->texts;
	build->texts = (struct gp_intern){ 0 };
	trace->texts = store->texts.texts;
	trace->text_count = store->texts.count;
}

/* NULL: none. */
static const char *keep_text(struct gp_trace_store *store, const char *text)
{
	return text ? gp_arena_text(&store->arena, text, strlen(text)) : NULL;
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
	trace->settings = keep_text(store, build->settings);
	trace->values = keep_text(store, build->values);
	trace->not_told = keep_text(store, build->not_told);
	set_release(&trace->release, build);
	trace->is_complete = build->is_complete;
	return trace;
}
