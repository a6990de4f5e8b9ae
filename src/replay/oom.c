/*
 * What PyTorch's message tells of an OOM: DeviceCachingAllocator::malloc.
 *
 * The settings and the limit are those of the moment; requests up to there may
 * have changed them.
 */
#include "replay/oom.h"

/* What a device's allocator is configured with after its requests so far. */
struct configured {
	struct gp_settings settings;
	double fraction;
	bool has_limit;
};

static void set_fraction(struct configured *c, double fraction)
{
	c->fraction = fraction;
	c->has_limit = gp_release_limits(c->settings.release, fraction);
}

static struct configured configured_at(const struct gp_replay_config *config,
				       uint64_t event)
{
	const struct gp_trace *trace = config->trace;
	const struct gp_event *events = trace->devices[config->device].events;
	struct configured c = { .settings = *config->settings, .fraction = 1 };
	struct gp_diag ignored;

	if (c.settings.memory_fraction < 1)
		set_fraction(&c, c.settings.memory_fraction);
	for (uint64_t i = 0; i < event; i++) {
		if (events[i].kind == GP_SET_FRACTION &&
		    events[i].fraction >= 0 && events[i].fraction <= 1)
			set_fraction(&c, events[i].fraction);
		if (events[i].kind == GP_SET_SETTINGS)
			gp_settings_set(&c.settings,
					trace->texts[events[i].text], &ignored);
	}
	return c;
}

static uint64_t reserve_of(const struct gp_settings *settings, uint64_t total)
{
	if (settings->reserve_bytes)
		return settings->reserve_bytes;
	if (settings->reserve_fraction > 0)
		return (uint64_t)(settings->reserve_fraction * (double)total);
	return GP_UNLIMITED;
}

/* Free blocks of private pools, which PyTorch counts as allocated. */
static uint64_t pool_free_of(struct gp_allocator *allocator)
{
	struct gp_state state;
	uint64_t sum = 0;

	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *segment = &state.segments[i];
		const struct gp_block *blocks =
			&state.blocks[segment->first_block];

		for (uint32_t k = 0; segment->pool && k < segment->blocks; k++)
			if (blocks[k].state == GP_INACTIVE)
				sum += blocks[k].size;
	}
	gp_state_release(&state);
	return sum;
}

void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct gp_allocator *allocator, struct gp_device *device)
{
	struct configured c = configured_at(config, oom->event);
	uint64_t free_bytes, total;

	device->ops->info(device, &free_bytes, &total);
	oom->device = config->trace->devices[config->device].device;
	oom->release = c.settings.release;
	oom->device_total = total;
	oom->segment_size = gp_settings_segment(
		&c.settings, gp_settings_round(&c.settings, oom->size));
	oom->limit = c.has_limit ? (uint64_t)(c.fraction * (double)total)
				 : GP_UNLIMITED;
	oom->pool_free = pool_free_of(allocator);
	oom->is_expandable = c.settings.expandable_segments;
	oom->reserve = reserve_of(&c.settings, total);
}
