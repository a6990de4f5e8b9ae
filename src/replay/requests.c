/* SPDX-License-Identifier: MIT */
/* Passing the requests of a trace to an engine. */
#include "replay/requests.h"

#include <string.h>

/* The lowest of the segments that cudaMalloc returned before the recording
 * began, if possible one at GP_SYSTEM_ADDRESSES or above; addr 0: there are
 * none. */
static struct gp_device_place lowest_segment(const struct gp_state *start)
{
	struct gp_device_place lowest = { .addr = UINT64_MAX },
			       lowest_of_system = { .addr = UINT64_MAX };

	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_device_place place = {
			.addr = start->segments[i].addr,
			.size = start->segments[i].size,
			.is_window = true,
		};

		if (start->segments[i].is_expandable)
			continue;
		if (place.addr < lowest.addr)
			lowest = place;
		if (place.addr >= GP_SYSTEM_ADDRESSES &&
		    place.addr < lowest_of_system.addr)
			lowest_of_system = place;
	}
	if (lowest_of_system.addr < UINT64_MAX)
		return lowest_of_system;
	return lowest.addr < UINT64_MAX ? lowest
					: (struct gp_device_place){ 0 };
}

/* The first segment of a recording, if the first request made it; addr 0: it
 * did not, or outcomes were not recorded. */
static struct gp_device_place first_segment(const struct gp_device_trace *trace)
{
	size_t allocs = 0;

	for (size_t i = 0; i < trace->event_count && allocs < 2; i++) {
		const struct gp_event *event = &trace->events[i];

		if (event->kind == GP_SEGMENT_ALLOC)
			return (struct gp_device_place){ .addr = event->addr,
							 .size = event->size };
		allocs += event->kind == GP_ALLOC;
	}
	return (struct gp_device_place){ 0 };
}

void request_places(struct gp_device *device, const struct gp_trace *trace,
		    const struct gp_device_trace *of)
{
	struct gp_device_place place = lowest_segment(&of->start);

	if (!place.addr)
		place = first_segment(of);
	place.is_simulated =
		trace->source && !strcmp(trace->source, "gpupool-record");
	if (place.addr && device->ops->place_as)
		device->ops->place_as(device, &place);
}

/* Operations that an engine does not implement have no effect. */
static enum gp_answer ask_pool(enum gp_answer (*op)(struct gp_allocator *,
						    uint16_t pool),
			       struct gp_allocator *allocator, uint16_t pool)
{
	return op ? op(allocator, pool) : GP_SERVED;
}

static enum gp_answer begin(struct gp_allocator *a, uint16_t pool,
			    bool is_capture)
{
	return a->ops->pool_begin ? a->ops->pool_begin(a, pool, is_capture)
				  : GP_SERVED;
}

static enum gp_answer capture(struct gp_allocator *a,
			      const struct gp_event *event)
{
	if (event->flags & GP_NAMES_STREAM && a->ops->capture)
		return a->ops->capture(a, event->pool, event->stream);
	return begin(a, event->pool, true);
}

static enum gp_answer set_fraction(struct gp_allocator *a, double fraction)
{
	return a->ops->set_fraction ? a->ops->set_fraction(a, fraction)
				    : GP_SERVED;
}

static enum gp_answer set_settings(struct gp_allocator *a, const char *conf)
{
	return a->ops->set_settings ? a->ops->set_settings(a, conf) : GP_SERVED;
}

static enum gp_answer reset(struct gp_allocator *a,
			    void (*op)(struct gp_allocator *))
{
	if (op)
		op(a);
	return GP_SERVED;
}

static enum gp_answer mark(struct gp_allocator *a, const struct gp_trace *trace,
			   const struct gp_event *event)
{
	if (a->ops->mark && event->mark != GP_MARK_END)
		a->ops->mark(a, trace->texts[event->text]);
	return GP_SERVED;
}

static enum gp_answer record_stream(struct gp_allocator *a,
				    const struct gp_event *event)
{
	if (a->ops->record_stream)
		a->ops->record_stream(a, event->id, event->stream);
	return GP_SERVED;
}

static enum gp_answer synchronize(struct gp_allocator *a,
				  const struct gp_event *event)
{
	const struct gp_allocator_ops *ops = a->ops;

	if (event->id != GP_NO_ID) {
		if (ops->complete)
			ops->complete(a, event->id);
	} else if (!(event->flags & GP_STREAM_WAITS)) {
		if (ops->synchronize)
			ops->synchronize(a, event->stream);
	} else if (ops->wait) {
		ops->wait(a, event->stream, event->by);
	}
	return GP_SERVED;
}

enum gp_answer request_other(struct gp_allocator *a,
			     const struct gp_trace *trace,
			     const struct gp_event *event)
{
	const struct gp_allocator_ops *ops = a->ops;

	switch (event->kind) {
	case GP_RECORD_STREAM: return record_stream(a, event);
	case GP_SYNCHRONIZE: return synchronize(a, event);
	case GP_EMPTY_CACHE: return ask_pool(ops->empty_cache, a, event->pool);
	case GP_SET_FRACTION: return set_fraction(a, event->fraction);
	case GP_POOL_BEGIN: return begin(a, event->pool, false);
	case GP_POOL_RELEASE:
		return ask_pool(ops->pool_release, a, event->pool);
	case GP_CAPTURE_BEGIN: return capture(a, event);
	case GP_POOL_END:
	case GP_CAPTURE_END: return ask_pool(ops->pool_end, a, event->pool);
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT:
		return ops->pool_change
			       ? ops->pool_change(a, event->pool, event->kind)
			       : GP_SERVED;
	case GP_SET_SETTINGS: return set_settings(a, trace->texts[event->text]);
	case GP_RESET_PEAK: return reset(a, ops->reset_peak);
	case GP_RESET_ACCUMULATED: return reset(a, ops->reset_accumulated);
	case GP_MARK: return mark(a, trace, event);
	default: return GP_SERVED;
	}
}
