/* SPDX-License-Identifier: MIT */
/* Checks whether a trace keeps the promises of gpupool/trace.h. */
#include "trace/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum phase { UNBORN, LIVE, FREED };

struct checker {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	uint8_t *phases; /* enum phase, by id */
	/* by id: whether it has a size, which frees then repeat */
	bool *has_size;
	uint32_t born;
	struct gp_diag *diag;
	struct gp_map live; /* names of live blocks, if they are not the ids */
};

static enum gp_status damaged(struct gp_diag *diag, const char *what)
{
	gp_diag_hint(diag, "convert the original file again");
	return gp_diag_set(diag, GP_INPUT, "it is damaged: %s", what);
}

/* ---- tables ---- */

static bool streams_are_sorted(const struct gp_trace *trace)
{
	size_t i;

	for (i = 1; i < trace->stream_count; i++)
		if (trace->streams[i] <= trace->streams[i - 1])
			return false;
	return trace->stream_count < GP_NO_STREAM;
}

static bool pools_are_sorted(const struct gp_trace *trace)
{
	const struct gp_pool_id *pools = trace->pools;
	size_t i;

	if (!trace->pool_count || pools[0].first || pools[0].second)
		return false;
	for (i = 1; i < trace->pool_count; i++)
		if (pools[i].first < pools[i - 1].first ||
		    (pools[i].first == pools[i - 1].first &&
		     pools[i].second <= pools[i - 1].second))
			return false;
	return trace->pool_count <= UINT16_MAX;
}

static bool sites_are_calls(const struct gp_trace *trace)
{
	size_t i;

	for (i = 0; i < trace->site_count; i++) {
		const struct gp_site *site = &trace->sites[i];

		if (site->text >= trace->text_count ||
		    (site->caller != GP_NO_SITE && site->caller >= i))
			return false;
	}
	return trace->site_count < GP_NO_SITE;
}

static bool is_text_or_none(const struct gp_trace *trace, uint32_t text)
{
	return text == GP_NO_ID || text < trace->text_count;
}

static bool owners_are_named(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->owner_count; i++)
		if (!is_text_or_none(trace, trace->owners[i].module) ||
		    !is_text_or_none(trace, trace->owners[i].type))
			return false;
	for (size_t d = 0; d < trace->device_count; d++) {
		const struct gp_device_trace *device = &trace->devices[d];

		for (uint32_t i = 0; device->owners && i < device->block_ids;
		     i++)
			if (device->owners[i] != GP_NO_OWNER &&
			    device->owners[i] >= trace->owner_count)
				return false;
	}
	return true;
}

static bool devices_are_sorted(const struct gp_trace *trace)
{
	size_t i;

	for (i = 1; i < trace->device_count; i++)
		if (trace->devices[i].device <= trace->devices[i - 1].device)
			return false;
	return true;
}

static enum gp_status check_tables(const struct gp_trace *trace,
				   struct gp_diag *diag)
{
	if (!streams_are_sorted(trace))
		return damaged(diag, "streams out of order");
	if (!pools_are_sorted(trace))
		return damaged(diag, "pools out of order");
	if (!sites_are_calls(trace))
		return damaged(diag, "a site that cannot have a caller");
	if (!owners_are_named(trace))
		return damaged(diag, "an owner that does not exist");
	if (!devices_are_sorted(trace))
		return damaged(diag, "devices out of order");
	return GP_OK;
}

static bool has_site(const struct checker *c, uint32_t site)
{
	return site == GP_NO_SITE || site < c->trace->site_count;
}

/* ---- states ---- */

/* A bool with a value other than 0 and 1 must not be read as a bool. */
static bool is_bool(const bool *value)
{
	unsigned char byte;

	memcpy(&byte, value, 1);
	return byte <= 1;
}

static bool segment_is_sound(const struct checker *c,
			     const struct gp_segment *segment)
{
	return segment->stream < c->trace->stream_count &&
	       segment->pool < c->trace->pool_count &&
	       is_bool(&segment->is_small) &&
	       is_bool(&segment->is_expandable) &&
	       segment->offset <=
		       (segment->is_expandable ? segment->addr : 0) &&
	       has_site(c, segment->site);
}

static bool block_is_sound(const struct checker *c,
			   const struct gp_block *block)
{
	if (block->state > GP_PENDING_FREE || !has_site(c, block->site))
		return false;
	if (block->id == GP_NO_ID)
		return true;
	return block->state != GP_INACTIVE && block->id < c->device->block_ids;
}

/* The blocks of the segments are consecutive ranges. */
static enum gp_status check_state(const struct checker *c,
				  const struct gp_state *state)
{
	size_t blocks = 0, i;

	for (i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];

		if (!segment_is_sound(c, segment) ||
		    segment->first_block != blocks ||
		    segment->blocks > state->block_count - blocks)
			return damaged(c->diag, "an impossible segment");
		blocks += segment->blocks;
	}
	if (blocks != state->block_count)
		return damaged(c->diag, "a block without a segment");
	for (i = 0; i < state->block_count; i++)
		if (!block_is_sound(c, &state->blocks[i]))
			return damaged(c->diag, "an impossible block");
	return gp_state_check(state, c->diag);
}

/* ---- lifetimes ---- */

/* If two live blocks had the same name, a file could not say which of them is
 * freed. */
static bool name_is_free(struct checker *c, uint32_t id)
{
	uint64_t name;

	if (!c->device->names)
		return true;
	name = c->device->names[id];
	if (gp_map_get(&c->live, name) != GP_MAP_NONE)
		return false;
	gp_map_put(&c->live, name, id);
	return true;
}

static bool is_born(struct checker *c, uint32_t id, enum phase phase,
		    uint64_t size)
{
	if (id >= c->device->block_ids || c->phases[id] != UNBORN)
		return false;
	if (!name_is_free(c, id))
		return false;
	c->phases[id] = (uint8_t)phase;
	c->has_size[id] = size != 0;
	c->born++;
	return true;
}

static void free_name(struct checker *c, uint32_t id)
{
	if (c->device->names)
		gp_map_take(&c->live, c->device->names[id]);
}

/* Names within the start state are distinct; those of pending blocks may be
 * reused after it. */
static bool start_is_born(struct checker *c)
{
	const struct gp_state *start = &c->device->start;

	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *block = &start->blocks[i];

		if (block->state == GP_INACTIVE)
			continue;
		if (!is_born(c, block->id,
			     block->state == GP_ACTIVE ? LIVE : FREED,
			     block->requested))
			return false;
	}
	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_PENDING_FREE)
			free_name(c, start->blocks[i].id);
	return true;
}

/* Whether the event repeats the size of its block, if that has one. The event's
 * id must have been born. */
static bool has_size(const struct checker *c, const struct gp_event *event)
{
	return event->size || !c->has_size[event->id];
}

static bool id_is_sound(struct checker *c, const struct gp_event *event)
{
	uint8_t *phase = NULL;

	if (event->kind == GP_ALLOC)
		return is_born(c, event->id, LIVE, event->size);
	if (event->id < c->device->block_ids)
		phase = &c->phases[event->id];
	switch (event->kind) {
	case GP_FREE:
		if (!phase || *phase != LIVE || !has_size(c, event))
			return false;
		*phase = FREED;
		free_name(c, event->id);
		return true;
	case GP_RECORD_STREAM: return phase && *phase == LIVE;
	case GP_FREE_COMPLETED:
		return phase ? *phase == FREED && has_size(c, event)
			     : event->id == GP_NO_ID;
	default: /* GP_SYNCHRONIZE */
		return phase ? *phase != UNBORN : event->id == GP_NO_ID;
	}
}

/* ---- events ---- */

static bool stream_is_sound(const struct checker *c,
			    const struct gp_event *event)
{
	if (event->stream < c->trace->stream_count)
		return true;
	if (event->stream == GP_ALL_STREAMS)
		return event->kind == GP_SYNCHRONIZE;
	if (event->stream == GP_NO_STREAM)
		return event->kind == GP_RECORD_STREAM;
	return false;
}

/* Flags are only set on the kinds of events that define them. */
static bool flags_are_sound(const struct checker *c,
			    const struct gp_event *event)
{
	const uint8_t anywhere = GP_INFERRED | GP_AT_ONCE | GP_REFUSED;

	switch (event->flags & ~anywhere) {
	case 0: return event->mark <= GP_MARK_END;
	case GP_STREAM_WAITS:
		return event->kind == GP_SYNCHRONIZE && event->id == GP_NO_ID &&
		       event->stream != GP_ALL_STREAMS &&
		       event->by < c->trace->stream_count;
	case GP_NAMES_STREAM:
		return event->kind == GP_CAPTURE_BEGIN && !event->mark;
	case GP_RESTORED: return event->kind == GP_ALLOC && !event->mark;
	default: return false;
	}
}

static bool event_is_sound(struct checker *c, const struct gp_event *event)
{
	uint8_t has;

	if (event->kind >= GP_EVENT_KINDS || !flags_are_sound(c, event) ||
	    event->size > INT64_MAX || !has_site(c, event->site) ||
	    event->pool >= c->trace->pool_count)
		return false;
	has = gp_event_fields(event->kind);
	if (has & GP_HAS_STREAM ? !stream_is_sound(c, event) : event->stream)
		return false;
	if (has & GP_HAS_FRACTION && !isfinite(event->fraction))
		return false;
	if (has & GP_HAS_TEXT)
		return event->text < c->trace->text_count;
	if (has & GP_HAS_ID)
		return id_is_sound(c, event);
	return event->id == GP_NO_ID;
}

static enum gp_status check_events(struct checker *c)
{
	size_t i;

	for (i = 0; i < c->device->event_count; i++)
		if (!event_is_sound(c, &c->device->events[i])) {
			gp_diag_record(c->diag, "device %u, event %zu",
				       c->device->device, i);
			return damaged(c->diag, "an impossible event");
		}
	if (c->born != c->device->block_ids)
		return damaged(c->diag, "ids that no block has");
	return GP_OK;
}

static enum gp_status check_device(struct checker *c)
{
	const struct gp_device_trace *d = c->device;
	enum gp_status status;

	gp_diag_record(c->diag, "device %u", d->device);
	/* Before memory is allocated: each id is born exactly once. */
	if (d->block_ids > d->event_count + d->start.block_count)
		return damaged(c->diag, "ids that no block has");
	c->phases = gp_mem_alloc(d->block_ids, sizeof(*c->phases));
	c->has_size = gp_mem_alloc(d->block_ids, sizeof(*c->has_size));
	c->born = 0;
	status = check_state(c, &d->start);
	if (!status)
		status = check_state(c, &d->end);
	if (!status && !start_is_born(c))
		status = damaged(c->diag, "two blocks of one id");
	if (!status)
		status = check_events(c);
	free(c->phases);
	free(c->has_size);
	gp_map_release(&c->live);
	return status;
}

enum gp_status gp_trace_check(const struct gp_trace *trace,
			      struct gp_diag *diag)
{
	struct checker checker = { .trace = trace, .diag = diag };
	enum gp_status status = check_tables(trace, diag);
	size_t i;

	for (i = 0; i < trace->device_count && !status; i++) {
		checker.device = &trace->devices[i];
		status = check_device(&checker);
	}
	if (!status)
		gp_diag_record(diag, "%s", "");
	return status;
}
