/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's message tells of an OOM: DeviceCachingAllocator::malloc.
 *
 * The settings and the limit are those of the moment; requests up to there may
 * have changed them.
 */
#include "replay/oom.h"

#include "base/mem.h"

static void set_fraction(struct configured *c, double fraction)
{
	c->fraction = fraction;
	c->has_limit = gp_release_limits(c->settings.release, fraction);
}

struct configured configured_at_start(const struct gp_settings *settings)
{
	struct configured c = { .settings = *settings, .fraction = 1 };

	if (settings->memory_fraction < 1)
		set_fraction(&c, settings->memory_fraction);
	return c;
}

/* Each event is looked at once in a run, however many requests fail. */
static void configured_move(struct configured *c,
			    const struct gp_replay_config *config,
			    uint64_t event)
{
	const struct gp_trace *trace = config->trace;
	const struct gp_event *e = trace->devices[config->device].events;
	struct gp_diag ignored;

	for (; c->events < event; c->events++) {
		const struct gp_event *at = &e[c->events];

		if (at->kind == GP_SET_FRACTION && at->fraction >= 0 &&
		    at->fraction <= 1)
			set_fraction(c, at->fraction);
		if (at->kind == GP_SET_SETTINGS)
			gp_settings_set(&c->settings, trace->texts[at->text],
					&ignored);
	}
}

static uint64_t reserve_of(const struct gp_settings *settings, uint64_t total)
{
	if (settings->reserve_bytes)
		return settings->reserve_bytes;
	if (settings->reserve_fraction > 0)
		return (uint64_t)(settings->reserve_fraction * (double)total);
	return GP_UNLIMITED;
}

/* What no allocator could do without: its request, in whole 512 bytes. */
static uint64_t needed_by(const struct gp_block *b)
{
	uint64_t size = (b->requested + GP_MIN_BLOCK_SIZE - 1) /
			GP_MIN_BLOCK_SIZE * GP_MIN_BLOCK_SIZE;

	return size < b->size ? size : b->size;
}

/* Free blocks of private pools, which PyTorch counts as allocated, and what
 * blocks in use need. */
static void walk(struct gp_oom *oom, struct gp_allocator *allocator)
{
	struct gp_state state;

	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *segment = &state.segments[i];
		const struct gp_block *blocks =
			&state.blocks[segment->first_block];

		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *b = &blocks[k];

			if (b->state == GP_ACTIVE)
				oom->live += needed_by(b);
			else if (b->state == GP_INACTIVE && segment->pool)
				oom->pool_free += b->size;
		}
	}
	gp_state_release(&state);
}

bool oom_is_told(const struct gp_replay_config *config,
		 const struct gp_replay_result *result)
{
	return !result->first_oom.is_there ||
	       (config->keep_ooms && result->ooms.kept < GP_OOMS_KEPT);
}

void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct configured *c, struct gp_allocator *allocator,
		  struct gp_device *device)
{
	uint64_t free_bytes, total;

	configured_move(c, config, oom->event);
	device->ops->info(device, &free_bytes, &total);
	oom->device = config->trace->devices[config->device].device;
	oom->release = c->settings.release;
	oom->device_total = total;
	oom->segment_size = gp_settings_segment(
		&c->settings, gp_settings_round(&c->settings, oom->size));
	oom->limit = c->has_limit ? (uint64_t)(c->fraction * (double)total)
				  : GP_UNLIMITED;
	walk(oom, allocator);
	oom->is_expandable = c->settings.expandable_segments;
	oom->reserve = reserve_of(&c->settings, total);
}

void oom_add(struct gp_replay_result *result,
	     const struct gp_replay_config *config, uint64_t event,
	     const struct gp_oom *oom)
{
	struct gp_ooms *ooms = &result->ooms;

	ooms->events = gp_mem_grow(ooms->events, &ooms->room, ooms->count + 1,
				   sizeof(*ooms->events));
	ooms->events[ooms->count++] = event;
	if (!oom)
		return;
	if (!result->first_oom.is_there)
		result->first_oom = *oom;
	if (!config->keep_ooms)
		return;
	ooms->list = gp_mem_grow(ooms->list, &ooms->list_room, ooms->kept + 1,
				 sizeof(*ooms->list));
	ooms->list[ooms->kept++] = *oom;
}
