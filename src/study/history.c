/* SPDX-License-Identifier: MIT */
/* Generated programs that may have led to a window. */
#include "study/history.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gpupool/knob.h"
#include "trace/draft.h"

/* Smaller requests do not grow with the size of a program's input. */
#define LEAST_SCALED (UINT64_C(4) << 10)

/* A block of the window; indexed by its id there. */
struct lifetime {
	struct gp_event request;
	uint32_t id; /* in the generated program */
	bool is_of_start, is_live;
};

struct making {
	struct gp_draft_device *device;
	const struct gp_state *state; /* at the window's start */
	const struct gp_event *events;
	size_t event_count;
	struct lifetime *lifetimes;
	uint32_t life_count;
	/* Blocks of the start state by address, which approximates their
	 * age. */
	uint32_t *start;
	uint64_t *start_sizes; /* ascending */
	size_t start_count;
};

/* ---- the window's blocks ---- */

static void add_start_block(struct making *m, const struct gp_segment *segment,
			    const struct gp_block *block)
{
	struct lifetime *lifetime = &m->lifetimes[block->id];
	uint64_t size = block->requested ? block->requested : block->size;

	lifetime->is_of_start = true;
	lifetime->request = (struct gp_event){
		.kind = GP_ALLOC,
		.id = block->id,
		.size = size,
		.stream = segment->stream,
		.pool = segment->pool,
		.site = block->site,
	};
	m->start_sizes[m->start_count] = size;
	m->start[m->start_count++] = block->id;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void find_start(struct making *m)
{
	size_t room = m->state->block_count + 1;

	m->start = gp_mem_alloc(room, sizeof(*m->start));
	m->start_sizes = gp_mem_alloc(room, sizeof(*m->start_sizes));
	for (size_t i = 0; i < m->state->segment_count; i++) {
		const struct gp_segment *segment = &m->state->segments[i];
		const struct gp_block *block =
			&m->state->blocks[segment->first_block];

		for (size_t k = 0; k < segment->blocks; k++)
			if (block[k].state == GP_ACTIVE)
				add_start_block(m, segment, &block[k]);
	}
	qsort(m->start_sizes, m->start_count, sizeof(*m->start_sizes),
	      ascending);
}

static bool is_of_model(const struct making *m, uint64_t size)
{
	return m->start_count && bsearch(&size, m->start_sizes, m->start_count,
					 sizeof(size), ascending);
}

static void making_init(struct making *m, struct gp_draft_device *device,
			const struct gp_state *state)
{
	*m = (struct making){
		.device = device,
		.state = state,
		.events = device->events,
		.event_count = device->event_count,
		.life_count = device->block_ids,
		.lifetimes = gp_mem_alloc((size_t)device->block_ids + 1,
					  sizeof(*m->lifetimes)),
	};
	find_start(m);
	for (size_t i = 0; i < m->event_count; i++)
		if (m->events[i].kind == GP_ALLOC)
			m->lifetimes[m->events[i].id].request = m->events[i];
}

static void making_release(struct making *m)
{
	free(m->lifetimes);
	free(m->start);
	free(m->start_sizes);
}

static void follow(struct making *m, const struct gp_event *event)
{
	if (event->kind == GP_ALLOC)
		m->lifetimes[event->id].is_live = true;
	else if (event->kind == GP_FREE)
		m->lifetimes[event->id].is_live = false;
}

/* Sets is_live to the state before that event. */
static void set_live(struct making *m, size_t event)
{
	for (uint32_t id = 0; id < m->life_count; id++)
		m->lifetimes[id].is_live = m->lifetimes[id].is_of_start;
	for (size_t i = 0; i < event; i++)
		follow(m, &m->events[i]);
}

/* The first event in the first half of the window before which live memory is
 * about as low as it ever gets there: between two steps, if there are steps. */
static size_t find_lowest(struct making *m)
{
	uint64_t *live = gp_mem_alloc(m->event_count + 1, sizeof(*live));
	uint64_t now = 0, least = UINT64_MAX;
	size_t half = m->event_count / 2, lowest = 0;

	set_live(m, 0);
	for (size_t i = 0; i < m->start_count; i++)
		now += m->start_sizes[i];
	for (size_t i = 0; i <= half && i < m->event_count; i++) {
		const struct gp_event *event = &m->events[i];

		live[i] = now;
		least = now < least ? now : least;
		if (event->kind == GP_ALLOC)
			now += event->size;
		else if (event->kind == GP_FREE &&
			 m->lifetimes[event->id].is_live)
			now -= m->lifetimes[event->id].request.size;
		follow(m, event);
	}
	while (lowest < half && live[lowest] > least + least / 50)
		lowest++;
	free(live);
	return lowest;
}

/* ---- the requests of the generated program ---- */

static void add(struct making *m, struct gp_event event)
{
	gp_draft_add(m->device, 0, &event);
}

static void add_free(struct making *m, uint32_t id)
{
	add(m,
	    (struct gp_event){ .kind = GP_FREE, .id = id, .site = GP_NO_SITE });
}

static void add_alloc(struct making *m, uint32_t id)
{
	struct gp_event event = m->lifetimes[id].request;

	event.id = m->lifetimes[id].id = gp_draft_add_block(m->device);
	m->lifetimes[id].is_live = true;
	add(m, event);
}

static void add_window(struct making *m, size_t from, double scale)
{
	for (size_t i = from; i < m->event_count; i++) {
		struct gp_event event = m->events[i];

		follow(m, &event);
		if (event.kind == GP_ALLOC) {
			m->lifetimes[event.id].id =
				gp_draft_add_block(m->device);
			if (event.size > LEAST_SCALED &&
			    !is_of_model(m, event.size))
				event.size =
					(uint64_t)((double)event.size * scale);
		}
		if (gp_draft_has_block(&event))
			event.id = m->lifetimes[event.id].id;
		add(m, event);
	}
}

/* Frees and allocates until just the blocks of the window's start are live. */
static void restore_start(struct making *m)
{
	for (uint32_t id = 0; id < m->life_count; id++)
		if (m->lifetimes[id].is_live && !m->lifetimes[id].is_of_start) {
			add_free(m, m->lifetimes[id].id);
			m->lifetimes[id].is_live = false;
		}
	for (size_t i = 0; i < m->start_count; i++)
		if (!m->lifetimes[m->start[i]].is_live)
			add_alloc(m, m->start[i]);
}

static void add_segment(struct making *m, const struct gp_segment *segment)
{
	uint64_t size = segment->is_small ? GP_SMALL_SIZE : segment->size;

	for (uint64_t left = segment->size; left >= size; left -= size)
		add(m, (struct gp_event){ .kind = GP_ALLOC,
					  .id = gp_draft_add_block(m->device),
					  .size = size,
					  .stream = segment->stream,
					  .pool = segment->pool,
					  .site = GP_NO_SITE });
}

static void add_segments(struct making *m)
{
	uint32_t first = m->device->block_ids;

	for (size_t i = 0; i < m->state->segment_count; i++)
		add_segment(m, &m->state->segments[i]);
	for (uint32_t id = first; id < m->device->block_ids; id++)
		add_free(m, id);
}

static void add_scaled(struct making *m, double scale)
{
	size_t lowest = find_lowest(m);

	set_live(m, lowest);
	for (size_t i = 0; i < m->start_count; i++)
		if (m->lifetimes[m->start[i]].is_live)
			add_alloc(m, m->start[i]);
	for (uint32_t id = 0; id < m->life_count; id++)
		if (m->lifetimes[id].is_live && !m->lifetimes[id].is_of_start)
			add_alloc(m, id);
	add_window(m, lowest, scale);
}

void history_init(struct history *history, const struct history_config *config)
{
	struct gp_draft draft;
	struct making m;

	gp_draft_init(&draft, config->trace);
	making_init(&m, &draft.devices[config->device],
		    &config->trace->devices[config->device].start);
	m.device->segment_count = 0;
	m.device->block_count = 0;
	if (config->earlier == SEGMENTS_EARLIER)
		add_segments(&m);
	if (config->earlier == WINDOW_EARLIER)
		add_scaled(&m, config->scale);
	restore_start(&m);
	history->window = m.device->addition_count;
	add_window(&m, 0, 1);
	m.device->event_count = 0;
	making_release(&m);
	history->trace = gp_draft_finish(&draft);
}

void history_release(struct history *history)
{
	gp_trace_destroy(history->trace);
	*history = (struct history){ 0 };
}
