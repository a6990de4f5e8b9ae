/* SPDX-License-Identifier: MIT */
/* What-ifs: merged streams, merged pools, and omitted calls. */
#include "study/what_if/scene.h"

/* Changes made in place; each function returns whether it changed something, or
 * would. */
struct change {
	bool (*event)(struct gp_event *event);
	bool (*block)(struct gp_block *block);
	bool (*segment)(struct gp_segment *segment);
};

static uint64_t change_device(struct gp_draft_device *device,
			      const struct change *change)
{
	uint64_t changes = 0;

	for (size_t i = 0; i < device->event_count; i++)
		changes += change->event(&device->events[i]);
	for (size_t i = 0; change->block && i < device->block_count; i++)
		changes += change->block(&device->blocks[i]);
	for (size_t i = 0; change->segment && i < device->segment_count; i++)
		changes += change->segment(&device->segments[i]);
	return changes;
}

/* Whether a copy of any event, block or segment would be changed. */
static bool may_change_device(const struct gp_device_trace *device,
			      const struct change *change)
{
	const struct gp_state *start = &device->start;
	bool may = false;

	for (size_t i = 0; i < device->event_count && !may; i++) {
		struct gp_event event = device->events[i];

		may = change->event(&event);
	}
	for (size_t i = 0; change->block && i < start->block_count; i++) {
		struct gp_block block = start->blocks[i];

		may |= change->block(&block);
	}
	for (size_t i = 0; change->segment && i < start->segment_count; i++) {
		struct gp_segment segment = start->segments[i];

		may |= change->segment(&segment);
	}
	return may;
}

static bool may_change(const struct gp_trace *trace,
		       const struct change *change)
{
	bool may = false;

	for (size_t d = 0; d < trace->device_count && !may; d++)
		may = may_change_device(&trace->devices[d], change);
	return may;
}

static enum gp_status apply(struct scene *scene, const struct change *change,
			    const char *noun, const char *what)
{
	uint64_t changes = 0;

	for (size_t d = 0; d < scene->config->trace->device_count; d++)
		changes += change_device(&scene->draft->devices[d], change);
	scene_note(scene, changes, noun, "%s", what);
	return GP_OK;
}

/* ---- streams ---- */

static bool move_stream(uint16_t *stream, uint16_t to)
{
	bool moves = *stream != to;

	*stream = to;
	return moves;
}

/* Omits the completion of a block's uses on other streams, of which there are
 * none any more. */
static bool leave_out_wait(struct gp_event *event)
{
	bool is_of_block =
		event->kind == GP_SYNCHRONIZE && event->id != GP_NO_ID;

	if (is_of_block)
		gp_draft_leave_out(event);
	return is_of_block;
}

static bool on_one_stream(struct gp_event *event)
{
	if (leave_out_wait(event))
		return false;
	switch (event->kind) {
	case GP_RECORD_STREAM: gp_draft_leave_out(event); return true;
	case GP_SYNCHRONIZE:
		if (event->flags & GP_STREAM_WAITS) {
			gp_draft_leave_out(event);
			return true;
		}
		return move_stream(&event->stream, GP_ALL_STREAMS);
	case GP_ALLOC:
	case GP_CAPTURE_BEGIN: return move_stream(&event->stream, 0);
	default: return false;
	}
}

static bool segment_on_one_stream(struct gp_segment *segment)
{
	return move_stream(&segment->stream, 0);
}

/* A pending free always waits for another stream, so it is complete. */
static bool does_not_wait(struct gp_block *block)
{
	if (block->state != GP_PENDING_FREE)
		return false;
	gp_draft_set_free(block);
	return true;
}

/* The limits of expandable reservations in the start state are not known, so
 * these cannot be moved to another stream or pool. */
static bool can_merge(const struct gp_draft *draft, bool by_stream)
{
	for (size_t d = 0; d < draft->trace->device_count; d++) {
		const struct gp_draft_device *device = &draft->devices[d];

		for (size_t i = 0; i < device->segment_count; i++) {
			const struct gp_segment *s = &device->segments[i];

			if (s->is_expandable &&
			    (by_stream ? s->stream : s->pool))
				return false;
		}
	}
	return true;
}

static enum gp_status cannot_merge(struct scene *scene)
{
	gp_diag_hint(scene->diag, "%s",
		     "a trace that begins with the program has no such memory");
	return scene_usage(scene, "expandable segments that existed at the "
				  "start cannot be merged");
}

static const struct change one_stream = { on_one_stream, does_not_wait,
					  segment_on_one_stream };

bool has_streams_to_merge(const struct gp_trace *trace)
{
	return may_change(trace, &one_stream);
}

enum gp_status merge_streams(struct scene *scene)
{
	if (!can_merge(scene->draft, true))
		return cannot_merge(scene);
	return apply(scene, &one_stream, "change",
		     "of stream, and waits left out");
}

static bool without_delay(struct gp_event *event)
{
	if (leave_out_wait(event) || event->kind != GP_RECORD_STREAM)
		return false;
	gp_draft_leave_out(event);
	return true;
}

static const struct change no_waits = { without_delay, does_not_wait, NULL };

bool has_delays(const struct gp_trace *trace)
{
	return may_change(trace, &no_waits);
}

enum gp_status no_delay(struct scene *scene)
{
	return apply(scene, &no_waits, "wait", "for another stream left out");
}

/* ---- pools ---- */

static bool move_pool(uint16_t *pool)
{
	bool moves = *pool != 0;

	*pool = 0;
	return moves;
}

static bool in_default_pool(struct gp_event *event)
{
	bool is_of_one = event->kind == GP_EMPTY_CACHE && event->pool;

	/* With merged pools, emptying one pool would empty all of them. */
	if (!is_of_one && !gp_event_is_of_pool(event->kind))
		return move_pool(&event->pool);
	gp_draft_leave_out(event);
	return true;
}

static bool segment_in_default_pool(struct gp_segment *segment)
{
	return move_pool(&segment->pool);
}

static const struct change one_pool = { in_default_pool, NULL,
					segment_in_default_pool };

bool has_private_pools(const struct gp_trace *trace)
{
	return may_change(trace, &one_pool);
}

enum gp_status no_private_pools(struct scene *scene)
{
	if (!can_merge(scene->draft, false))
		return cannot_merge(scene);
	return apply(scene, &one_pool, "change",
		     "of pool, and uses of pools left out");
}

/* ---- calls ---- */

static bool without_empty_cache(struct gp_event *event)
{
	if (event->kind != GP_EMPTY_CACHE)
		return false;
	gp_draft_leave_out(event);
	return true;
}

static const struct change no_calls = { without_empty_cache, NULL, NULL };

bool has_empty_caches(const struct gp_trace *trace)
{
	return may_change(trace, &no_calls);
}

enum gp_status no_empty_cache(struct scene *scene)
{
	return apply(scene, &no_calls, "call", "of empty_cache left out");
}
