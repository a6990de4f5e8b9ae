/* SPDX-License-Identifier: MIT */
/*
 * The end of a build: streams and pools sorted, states checked, blocks numbered
 * by finish_requests.c or history.c, the trace made by assemble.c.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/build_internal.h"

/* ---- tables ---- */

struct ranked {
	uint64_t first, second;
	uint16_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return 0;
}

/* Sorts; ranks[old index] is the new one. */
static uint16_t *rank(struct ranked *values, size_t count)
{
	uint16_t *ranks = gp_mem_alloc(count, sizeof(*ranks));
	size_t i;

	qsort(values, count, sizeof(*values), by_value);
	for (i = 0; i < count; i++)
		ranks[values[i].index] = (uint16_t)i;
	return ranks;
}

static uint16_t *sort_streams(struct gp_build *build)
{
	size_t i, count = build->stream_count;
	struct ranked *values = gp_mem_alloc(count, sizeof(*values));
	uint16_t *ranks;

	for (i = 0; i < count; i++)
		values[i] =
			(struct ranked){ build->streams[i], 0, (uint16_t)i };
	ranks = rank(values, count);
	for (i = 0; i < count; i++)
		build->streams[i] = values[i].first;
	free(values);
	return ranks;
}

/* {0, 0} and stream 0 are the least, so they stay the first. */
static uint16_t *sort_pools(struct gp_build *build)
{
	size_t i, count = build->pool_count;
	struct ranked *values = gp_mem_alloc(count, sizeof(*values));
	uint16_t *ranks;

	for (i = 0; i < count; i++)
		values[i] =
			(struct ranked){ build->pools[i].first,
					 build->pools[i].second, (uint16_t)i };
	ranks = rank(values, count);
	for (i = 0; i < count; i++)
		build->pools[i] = (struct gp_pool_id){ values[i].first,
						       values[i].second };
	free(values);
	return ranks;
}

/* ---- events ---- */

/* Members a kind does not use are zero, so that equal events are equal. */
static void tidy(struct gp_event *event, const uint16_t *streams,
		 const uint16_t *pools)
{
	uint8_t has = gp_event_fields(event->kind);

	if (!(has & (GP_HAS_ADDR | GP_HAS_FRACTION)))
		event->addr = 0;
	if (!(has & GP_HAS_SIZE))
		event->size = 0;
	if (!(has & (GP_HAS_ID | GP_HAS_TEXT)))
		event->id = GP_NO_ID;
	if (event->flags & GP_STREAM_WAITS)
		event->by = streams[event->by];
	else if (!(has & GP_HAS_MARK))
		event->mark = 0;
	if (event->stream < GP_NO_STREAM)
		event->stream = streams[event->stream];
	event->pool = pools[event->pool];
}

/* A free's are its alloc's; the history still needs the recorded ones. */
static void tidy_places(struct gp_build_device *d)
{
	size_t i;

	for (i = 0; i < d->event_count; i++) {
		uint8_t has = gp_event_fields(d->events[i].kind);

		if (!(has & GP_HAS_STREAM))
			d->events[i].stream = 0;
		if (!(has & GP_HAS_POOL))
			d->events[i].pool = 0;
		d->events[i].flags &= (uint8_t)~GP_BUILD_LATE;
	}
}

static enum gp_status prepare_events(struct gp_build *build,
				     struct gp_build_device *d,
				     const uint16_t *streams,
				     const uint16_t *pools,
				     struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->event_count; i++) {
		assert(d->events[i].kind < GP_EVENT_KINDS);
		tidy(&d->events[i], streams, pools);
		if (d->events[i].size <= INT64_MAX)
			continue;
		gp_build_name_event(build, d, i, diag);
		gp_diag_hint(diag, "sizes are bytes, at most 2^63 - 1");
		return gp_diag_set(diag, GP_INPUT, "%s of %" PRIu64 " bytes",
				   gp_event_kind_name(d->events[i].kind),
				   d->events[i].size);
	}
	return GP_OK;
}

/*
 * Where frees and their completions do not say what they give back, it is what
 * the block was allocated with.
 */
static void fill_frees(struct gp_build_device *d)
{
	struct place {
		uint64_t addr, size;
	} *places = gp_mem_alloc(d->block_ids, sizeof(*places));
	size_t i;

	for (i = 0; i < d->start.block_count; i++) {
		const struct gp_block *block = &d->start.blocks[i];

		if (block->id != GP_NO_ID)
			places[block->id] =
				(struct place){ block->addr, block->requested };
	}
	for (i = 0; i < d->event_count; i++) {
		struct gp_event *event = &d->events[i];

		if (event->kind == GP_ALLOC) {
			places[event->id] =
				(struct place){ event->addr, event->size };
		} else if ((event->kind == GP_FREE ||
			    event->kind == GP_FREE_COMPLETED) &&
			   event->id != GP_NO_ID) {
			if (!event->addr)
				event->addr = places[event->id].addr;
			if (!event->size)
				event->size = places[event->id].size;
		}
	}
	free(places);
}

/* ---- devices ---- */

static void rank_state(struct gp_build_state *state, const uint16_t *streams,
		       const uint16_t *pools)
{
	size_t i;

	for (i = 0; i < state->segment_count; i++) {
		state->segments[i].stream = streams[state->segments[i].stream];
		state->segments[i].pool = pools[state->segments[i].pool];
	}
}

static enum gp_status finish_device(struct gp_build *build,
				    struct gp_build_device *d,
				    const uint16_t *streams,
				    const uint16_t *pools, struct gp_diag *diag)
{
	enum gp_status status;

	rank_state(&d->start, streams, pools);
	rank_state(&d->end, streams, pools);
	status = prepare_events(build, d, streams, pools, diag);
	if (!status)
		status = gp_state_settle(&d->start, diag);
	if (!status)
		status = gp_state_settle(&d->end, diag);
	if (!status)
		status = build->kind == GP_BUILD_REQUESTS
				 ? gp_requests_finish_device(build, d, diag)
				 : gp_history_finish_device(build, d, diag);
	if (status)
		return status;
	tidy_places(d);
	if (build->kind == GP_BUILD_REQUESTS) /* a history's entries all say */
		fill_frees(d);
	return GP_OK;
}

static int by_ordinal(const void *a, const void *b)
{
	const struct gp_build_device *x = a, *y = b;

	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static int by_device_and_time(const void *a, const void *b)
{
	const struct gp_build_mark *x = a, *y = b;

	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Both are sorted; marks of a device that is not there are left out. */
static void share_marks(struct gp_build *build)
{
	const struct gp_build_mark *mark = build->marks;
	const struct gp_build_mark *end;
	size_t i;

	if (!build->mark_count)
		return;
	end = mark + build->mark_count;
	for (i = 0; i < build->device_count; i++) {
		struct gp_build_device *d = &build->devices[i];

		while (mark < end && mark->ordinal < d->ordinal)
			mark++;
		d->marks = mark;
		while (mark < end && mark->ordinal == d->ordinal)
			mark++;
		d->mark_count = (size_t)(mark - d->marks);
	}
}

static enum gp_status finish_devices(struct gp_build *build,
				     struct gp_diag *diag)
{
	uint16_t *streams = sort_streams(build), *pools = sort_pools(build);
	enum gp_status status = GP_OK;
	size_t i;

	if (build->device_count)
		qsort(build->devices, build->device_count,
		      sizeof(*build->devices), by_ordinal);
	if (build->mark_count)
		qsort(build->marks, build->mark_count, sizeof(*build->marks),
		      by_device_and_time);
	share_marks(build);
	for (i = 0; i < build->device_count && !status; i++)
		status = finish_device(build, &build->devices[i], streams,
				       pools, diag);
	free(streams);
	free(pools);
	return status;
}

enum gp_status gp_build_finish(struct gp_build *build, struct gp_trace **trace,
			       struct gp_diag *diag)
{
	enum gp_status status = finish_devices(build, diag);

	if (!status)
		*trace = gp_build_assemble(build);
	gp_build_destroy(build);
	return status;
}
