/* SPDX-License-Identifier: MIT */
/* An allocator on a simulated device. */
#include "one.h"

#include <stdlib.h>

#include "replay/requests.h"

struct one *one_make(const struct gp_trace *trace,
		     const struct gp_device_trace *of,
		     const struct gp_settings *settings,
		     const struct gp_state *start)
{
	struct one *one = calloc(1, sizeof(*one));
	struct gp_allocator_config config = {
		.settings = settings,
		.device = gp_sim_create(of->device, of->total_memory),
		.device_ordinal = of->device,
		.streams = trace->streams,
		.stream_count = trace->stream_count,
		.pools = trace->pools,
		.pool_count = trace->pool_count,
		.block_ids = of->block_ids + 1,
		.start = start,
		.alike = &one->alike,
	};
	struct gp_diag diag;

	one->device = config.device;
	one->alike = gp_alike_of(settings);
	if (gp_engine_find("caching")->create(&config, &one->allocator,
					      &diag) != GP_OK)
		abort();
	return one;
}

struct one *one_copy(const struct one *one)
{
	struct one *copy = calloc(1, sizeof(*copy));

	copy->alike = one->alike;
	copy->device = gp_sim_copy(one->device);
	copy->allocator = one->allocator->ops->copy(one->allocator,
						    copy->device, &copy->alike);
	if (copy->allocator)
		return copy;
	gp_device_destroy(copy->device);
	free(copy);
	return NULL;
}

void one_drop(struct one *one)
{
	one->allocator->ops->destroy(one->allocator);
	gp_device_destroy(one->device);
	free(one);
}

struct answer one_give(const struct one *one, const struct gp_trace *trace,
		       const struct gp_event *event)
{
	struct gp_allocator *a = one->allocator;
	struct answer answer = { GP_SERVED, 0 };

	if (event->kind == GP_ALLOC)
		answer.answer =
			a->ops->alloc(a, event->id, event->size, event->stream,
				      event->pool, &answer.addr);
	else if (event->kind == GP_FREE)
		a->ops->free(a, event->id);
	else if (event->kind == GP_FREE_COMPLETED)
		a->ops->complete(a, event->id);
	else if (event->kind == GP_OTHER_MEMORY)
		one->device->ops->set_other(one->device, event->size);
	else
		answer.answer = request_other(a, trace, event);
	return answer;
}
