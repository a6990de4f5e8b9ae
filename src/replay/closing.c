/* SPDX-License-Identifier: MIT */
/* What a run leaves behind. */
#include "replay/closing.h"

#include <stdlib.h>

#include "base/mem.h"

static void note_pools(struct gp_replay_result *result,
		       const struct gp_trace *trace,
		       struct gp_allocator *allocator)
{
	const struct gp_allocator_ops *ops = allocator->ops;

	if (!ops->pool_reserved || trace->pool_count < 2)
		return;
	result->pools = gp_mem_alloc(trace->pool_count, sizeof(*result->pools));
	for (size_t i = 1; i < trace->pool_count; i++)
		result->pool_count +=
			ops->pool_reserved(allocator, (uint16_t)i,
					   &result->pools[result->pool_count]);
}

void closing_note(struct gp_replay_result *result,
		  const struct gp_replay_config *config,
		  struct gp_allocator *allocator, struct gp_device *device)
{
	result->stats = *allocator->ops->stats(allocator);
	result->recorded = gp_trace_recorded(config->trace, config->device);
	note_pools(result, config->trace, allocator);
	result->calls = device->calls;
	result->reach = device->reach;
	if (device->ops->times)
		result->time_count = device->ops->times(device, result->times,
							GP_CALL_TIMES);
	allocator->ops->state(allocator, &result->end);
}

enum gp_status closing_health(struct gp_allocator *allocator,
			      struct gp_device *device, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	if (allocator->ops->health)
		status = allocator->ops->health(allocator, diag);
	if (status == GP_OK && device->ops->health)
		status = device->ops->health(device, diag);
	return status;
}

uint64_t gp_replay_peak_allocated(const struct gp_replay_result *result)
{
	uint64_t peak = result->at_end.allocated;

	for (uint32_t i = 0; i < result->timeline.bins; i++)
		if (result->timeline.allocated[i] > peak)
			peak = result->timeline.allocated[i];
	return peak;
}

void gp_replay_release(struct gp_replay_result *result)
{
	free(result->pools);
	free(result->ooms.events);
	free(result->ooms.list);
	gp_state_release(&result->end);
	gp_state_release(&result->peak);
}
