/* What-ifs that are not settings. */
#include "gpupool/alter.h"

const struct gp_what_if_row gp_what_ifs[GP_WHAT_IFS] = {
	[GP_ONE_STREAM] = { "one-stream", "all work on one stream" },
	[GP_NO_PRIVATE_POOLS] = { "no-private-pools", "no private pools" },
	[GP_NO_WAITING] = { "no-waiting", "no free waits for another stream" },
	[GP_NO_EMPTY_CACHE] = { "no-empty-cache", "no empty_cache" },
};

/* ---- events, by what-if: false is left out ---- */

static bool on_one_stream(void *arg, uint32_t device, uint64_t index,
			  struct gp_event *event)
{
	(void)arg, (void)device, (void)index;
	if (event->kind == GP_RECORD_STREAM || event->flags & GP_STREAM_WAITS)
		return false;
	if (event->kind == GP_SYNCHRONIZE && event->id == GP_NO_ID)
		event->stream = GP_ALL_STREAMS;
	else
		event->stream = 0;
	return true;
}

static bool in_default_pool(void *arg, uint32_t device, uint64_t index,
			    struct gp_event *event)
{
	(void)arg, (void)device, (void)index;
	switch (event->kind) {
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END:
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT: return false;
	/* That of one pool would now empty all. */
	case GP_EMPTY_CACHE: return event->pool == 0;
	default: event->pool = 0; return true;
	}
}

static bool without_waiting(void *arg, uint32_t device, uint64_t index,
			    struct gp_event *event)
{
	(void)arg, (void)device, (void)index;
	return event->kind != GP_RECORD_STREAM;
}

static bool without_empty_cache(void *arg, uint32_t device, uint64_t index,
				struct gp_event *event)
{
	(void)arg, (void)device, (void)index;
	return event->kind != GP_EMPTY_CACHE;
}

/* ---- start states ---- */

static void segment_on_one_stream(void *arg, uint32_t device,
				  struct gp_segment *segment)
{
	(void)arg, (void)device;
	segment->stream = 0;
}

static void segment_in_default_pool(void *arg, uint32_t device,
				    struct gp_segment *segment)
{
	(void)arg, (void)device;
	segment->pool = 0;
}

static bool does_not_wait(void *arg, uint32_t device,
			  const struct gp_block *block)
{
	(void)arg, (void)device;
	return block->state != GP_PENDING_FREE;
}

static const struct gp_alter alters[GP_WHAT_IFS] = {
	[GP_ONE_STREAM] = { .event = on_one_stream,
			    .block = does_not_wait,
			    .segment = segment_on_one_stream },
	[GP_NO_PRIVATE_POOLS] = { .event = in_default_pool,
				  .segment = segment_in_default_pool },
	[GP_NO_WAITING] = { .event = without_waiting, .block = does_not_wait },
	[GP_NO_EMPTY_CACHE] = { .event = without_empty_cache },
};

static bool has_kind(const struct gp_trace *trace, enum gp_event_kind kind)
{
	for (size_t d = 0; d < trace->device_count; d++) {
		const struct gp_device_trace *device = &trace->devices[d];

		for (size_t i = 0; i < device->event_count; i++)
			if (device->events[i].kind == kind)
				return true;
	}
	return false;
}

/* Expandable memory that is there at the start cannot change hands: where its
 * reservations begin and end is not known. */
static bool can_merge(const struct gp_trace *trace, enum gp_what_if what)
{
	for (size_t d = 0; d < trace->device_count; d++) {
		const struct gp_state *start = &trace->devices[d].start;

		for (size_t i = 0; i < start->segment_count; i++) {
			const struct gp_segment *s = &start->segments[i];

			if (s->is_expandable &&
			    (what == GP_ONE_STREAM ? s->stream : s->pool))
				return false;
		}
	}
	return true;
}

bool gp_what_if_applies(const struct gp_trace *trace, enum gp_what_if what)
{
	switch (what) {
	case GP_ONE_STREAM:
		return trace->stream_count > 1 && can_merge(trace, what);
	case GP_NO_PRIVATE_POOLS:
		return trace->pool_count > 1 && can_merge(trace, what);
	case GP_NO_WAITING: return has_kind(trace, GP_RECORD_STREAM);
	default: return has_kind(trace, GP_EMPTY_CACHE);
	}
}

struct gp_trace *gp_trace_what_if(const struct gp_trace *trace,
				  enum gp_what_if what)
{
	return gp_trace_alter(trace, &alters[what]);
}

/* ---- without some blocks ---- */

struct without {
	uint32_t device;
	const bool *marked;
};

/* Whether the event is about a block of its own. */
static bool is_about_block(const struct gp_event *event)
{
	return (gp_event_fields((enum gp_event_kind)event->kind) & GP_HAS_ID) &&
	       event->id != GP_NO_ID;
}

static bool is_kept(void *arg, uint32_t device, uint64_t index,
		    struct gp_event *event)
{
	const struct without *without = arg;

	(void)index;
	return device != without->device || !is_about_block(event) ||
	       !without->marked[event->id];
}

static bool is_kept_block(void *arg, uint32_t device,
			  const struct gp_block *block)
{
	const struct without *without = arg;

	return device != without->device || block->id == GP_NO_ID ||
	       !without->marked[block->id];
}

struct gp_trace *gp_trace_without(const struct gp_trace *trace, uint32_t device,
				  const bool *marked)
{
	struct without without = { device, marked };

	return gp_trace_alter(trace, &(struct gp_alter){ .event = is_kept,
							 .block = is_kept_block,
							 .arg = &without });
}
