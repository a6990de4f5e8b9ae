/* SPDX-License-Identifier: MIT */
/* A build: a trace while a reader fills it.  Tables are in build_tables.c. */
#include "trace/build.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/knob.h"
#include "trace/build_internal.h"
#include "trace/store.h"

struct gp_build *gp_build_create(enum gp_build_kind kind)
{
	struct gp_build *build = gp_mem_alloc(1, sizeof(*build));
	struct gp_diag ignored;
	uint16_t stream, pool;

	build->kind = kind;
	/* Until a device of the history turns out to start with segments. */
	build->is_complete = kind == GP_BUILD_HISTORY;
	build->release_first = GP_RELEASE_FIRST;
	build->release_last = GP_RELEASE_LAST;
	gp_build_stream(build, 0, &stream, &ignored);
	gp_build_pool(build, (struct gp_pool_id){ 0, 0 }, &pool, &ignored);
	return build;
}

void gp_build_state_release(struct gp_build_state *state)
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
		gp_build_state_release(&build->devices[i].start);
		gp_build_state_release(&build->devices[i].end);
	}
	free(build->devices);
	free(build->marks);
	free(build->sites);
	free(build->streams);
	free(build->pools);
	free(build->scratch);
	free(build->source);
	free(build->settings);
	free(build->values);
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
		build->devices =
			gp_mem_grow(build->devices, &build->device_room, i + 1,
				    sizeof(*build->devices));
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

	d->counters = gp_mem_grow(d->counters, &d->counter_room,
				  d->counter_count + 1, sizeof(*d->counters));
	d->counters[d->counter_count++] =
		(struct gp_counter){ .value = value, .text = text };
}

void gp_build_end_state(struct gp_build *build, uint32_t device, bool is_end)
{
	at(build, device)->at_end = is_end;
}

static void grow_events(struct gp_build_device *d, size_t n, bool has_names)
{
	size_t need = d->event_count + n;

	d->events = gp_mem_grow(d->events, &d->event_room, need,
				sizeof(*d->events));
	if (has_names)
		d->names = gp_mem_grow(d->names, &d->name_room, need,
				       sizeof(*d->names));
}

/* Whether it is the second half of the free before it; one event is both. */
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

	s->segments = gp_mem_grow(s->segments, &s->segment_room,
				  s->segment_count + 1, sizeof(*s->segments));
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
				   "a block stands before any segment");
	if (s->block_count == UINT32_MAX - 1)
		return gp_diag_set(diag, GP_INPUT, "too many blocks");
	s->blocks = gp_mem_grow(s->blocks, &s->block_room, s->block_count + 1,
				sizeof(*s->blocks));
	s->names = gp_mem_grow(s->names, &s->name_room, s->block_count + 1,
			       sizeof(*s->names));
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
	build->marks =
		gp_mem_grow(build->marks, &build->mark_room,
			    build->mark_count + 1, sizeof(*build->marks));
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
