/* SPDX-License-Identifier: MIT */
/* What is recorded during a replay, for reports. */
#include "replay/watch.h"

#include <stdlib.h>

#include "gpupool/knob.h"
#include "base/larger.h"
#include "base/mem.h"

static uint64_t level_of(const struct gp_allocator *allocator,
			 enum gp_stat_id id)
{
	return (uint64_t)gp_level_now(&allocator->levels[id]);
}

static uint64_t search_largest(struct gp_allocator *allocator)
{
	struct gp_state state;
	uint64_t largest = 0;

	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *segment = &state.segments[i];

		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *b =
				&state.blocks[segment->first_block + k];

			if (b->state == GP_INACTIVE)
				watch_max(&largest, b->size);
		}
	}
	gp_state_release(&state);
	return largest;
}

struct gp_moment gp_moment_of(struct gp_allocator *allocator, uint64_t event)
{
	return (struct gp_moment){
		.event = event,
		.reserved = level_of(allocator, GP_STAT_RESERVED_BYTES),
		.allocated = level_of(allocator, GP_STAT_ALLOCATED_BYTES),
		.active = level_of(allocator, GP_STAT_ACTIVE_BYTES),
		.requested = level_of(allocator, GP_STAT_REQUESTED_BYTES),
		.inactive_split =
			level_of(allocator, GP_STAT_INACTIVE_SPLIT_BYTES),
		.largest_free =
			allocator->ops->largest_free
				? allocator->ops->largest_free(allocator)
				: search_largest(allocator),
	};
}

void watch_init(struct watch *watch, struct gp_allocator *allocator,
		uint64_t events, struct gp_replay_result *result)
{
	*watch = (struct watch){
		.result = result,
		.allocator = allocator,
		.levels = allocator->levels,
		.events = events,
	};
	result->timeline.bins = events < GP_BINS ? (uint32_t)events : GP_BINS;
	watch_peak(watch, 0);
	if (events)
		watch_next_bin(watch, 0);
}

void watch_next_bin(struct watch *watch, uint64_t event)
{
	struct gp_timeline *line = &watch->result->timeline;
	uint64_t bins = line->bins, bin = event * bins / watch->events;

	watch->bin = bin;
	watch->bin_end = ((bin + 1) * watch->events + bins - 1) / bins;
	line->reserved[bin] = watch_current(watch, GP_STAT_RESERVED_BYTES);
	line->allocated[bin] = watch_current(watch, GP_STAT_ALLOCATED_BYTES);
	line->active[bin] = watch_current(watch, GP_STAT_ACTIVE_BYTES);
}

void watch_peak(struct watch *watch, uint64_t event)
{
	watch->result->at_peak = gp_moment_of(watch->allocator, event);
	watch->result->at_fullest = watch->result->at_peak;
}

void watch_fullest(struct watch *watch, uint64_t event)
{
	watch->result->at_fullest = gp_moment_of(watch->allocator, event);
}

struct gp_oom watch_oom(struct watch *watch, struct gp_device *device,
			const struct gp_event *event, uint64_t index)
{
	struct gp_moment now = gp_moment_of(watch->allocator, index);
	uint64_t total;
	struct gp_oom oom = {
		.is_there = true,
		.alloc = watch->result->allocs,
		.event = index,
		.size = event->size,
		.site = event->site,
		.free_bytes = now.reserved - now.active,
		.stream = event->stream,
		.route = { .pool = event->pool },
		.reserved = now.reserved,
		.allocated = now.allocated,
	};
	device->ops->info(device, &oom.device_free, &total);
	if (watch->allocator->ops->route)
		oom.is_routed = watch->allocator->ops->route(
			watch->allocator, event->size, event->stream,
			event->pool, &oom.route);
	return oom;
}

void watch_cut(const struct watch *watch, const struct gp_replay_cut *cut,
	       uint64_t event)
{
	struct gp_replay_result *result = watch->result;

	if (result->dropped <= cut->dropped &&
	    result->at_peak.reserved <= cut->reserved)
		return;
	result->is_cut = true;
	result->cut_events = event + 1;
}

void watch_end(struct watch *watch, uint64_t events)
{
	watch->result->at_end = gp_moment_of(watch->allocator, events);
}

/* ---- failed requests ---- */

/*
 * The contents of PyTorch's OutOfMemoryError: DeviceCachingAllocator::malloc.
 *
 * The settings and the limit are those at that event; earlier events may have
 * changed them.
 */

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

/* Each event is visited once in a run, however many requests fail. */
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
		if (at->kind == GP_OTHER_MEMORY)
			c->other = at->size;
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

/* What any allocator needs for the block: its request, rounded to 512 bytes. */
static uint64_t needed_by(const struct gp_block *b)
{
	uint64_t size = gp_round_up(b->requested, GP_MIN_BLOCK_SIZE);

	return gp_smaller(size, b->size);
}

/* Adds a free block to the sum for its stream and pool, which decide whether
 * the failed request could use it. PyTorch's message counts free blocks of
 * private pools as allocated. */
static void add_free(struct gp_oom *oom, const struct gp_segment *segment,
		     uint64_t size)
{
	const struct gp_route *route = &oom->route;

	if (segment->pool)
		oom->pool_free += size;
	if (segment->pool != route->pool ||
	    (oom->is_routed && segment->is_small != route->is_small)) {
		oom->free_other_pool += size;
	} else if (segment->stream != oom->stream) {
		oom->free_other_stream += size;
	} else {
		oom->free_its_own += size;
		watch_max(&oom->largest_free, size);
	}
}

/* Sums up the free blocks, and what the blocks in use need. */
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
			else if (b->state == GP_INACTIVE)
				add_free(oom, segment, b->size);
		}
	}
	gp_state_release(&state);
}

bool oom_is_described(const struct gp_replay_config *config,
		      const struct gp_replay_result *result)
{
	return !result->first_oom.is_there ||
	       (config->keep_ooms && result->ooms.kept < GP_OOMS_KEPT);
}

void oom_describe(struct gp_oom *oom, const struct gp_replay_config *config,
		  struct configured *c, struct gp_allocator *allocator,
		  struct gp_device *device)
{
	uint64_t free_bytes, total, taken, least;

	configured_move(c, config, oom->event);
	device->ops->info(device, &free_bytes, &total);
	oom->device = config->trace->devices[config->device].device;
	oom->release = c->settings.release;
	taken = gp_sum(oom->reserved, c->other);
	/* The least memory that the device can have. If nothing is free, that
	 * is unknown, because the memory of others is not limited. */
	least = taken + oom->device_free;
	if (oom->device_free &&
	    (least > total || config->capacity == GP_UNLIMITED))
		total = least;
	oom->device_total = total;
	oom->segment_size = gp_settings_segment(
		&c->settings, gp_settings_round(&c->settings, oom->size));
	oom->limit = c->has_limit ? (uint64_t)(c->fraction * (double)total)
				  : GP_UNLIMITED;
	oom->room = gp_smaller(
		oom->device_free,
		oom->limit > oom->reserved ? oom->limit - oom->reserved : 0);
	oom->overdrawn = taken - gp_smaller(taken, total);
	/* Whether contiguous free memory would have been enough. */
	oom->cause = oom->free_bytes + oom->room >= oom->size
			     ? GP_CAUSE_FRAGMENTATION
			     : GP_CAUSE_CAPACITY;
	walk(oom, allocator);
	oom->is_expandable = c->settings.expandable_segments;
	oom->reserve = reserve_of(&c->settings, total);
}

void oom_add(struct gp_replay_result *result,
	     const struct gp_replay_config *config, uint64_t event,
	     const struct gp_oom *oom)
{
	struct gp_ooms *ooms = &result->ooms;

	GP_GROW(ooms->events, ooms->count + 1, ooms->room);
	ooms->events[ooms->count++] = event;
	if (!oom)
		return;
	if (!result->first_oom.is_there)
		result->first_oom = *oom;
	if (!config->keep_ooms)
		return;
	GP_GROW(ooms->list, ooms->kept + 1, ooms->list_room);
	ooms->list[ooms->kept++] = *oom;
}

/* ---- memory check ---- */

struct checked_block {
	uint64_t addr, size; /* size 0: not written */
	uint64_t event;	     /* of the request; also the pattern's seed */
};

void memory_check_init(struct memory_check *check, struct gp_device *device,
		       uint32_t block_ids, struct gp_memory_check *result)
{
	*check = (struct memory_check){ .device = device,
					.block_ids = block_ids,
					.result = result };
	if (device->ops->fill && device->ops->check)
		check->blocks =
			gp_mem_alloc((size_t)block_ids, sizeof(*check->blocks));
}

void memory_check_write(struct memory_check *check, uint32_t id, uint64_t addr,
			uint64_t size, uint64_t event)
{
	if (!size || !addr)
		return;
	check->blocks[id] = (struct checked_block){ addr, size, event };
	check->device->ops->fill(check->device, addr, size, event);
}

void memory_check_read(struct memory_check *check, uint32_t id, uint64_t event)
{
	struct gp_memory_check *result = check->result;
	struct checked_block *block = &check->blocks[id];
	struct gp_device *device = check->device;

	if (!block->size)
		return;
	result->blocks++;
	result->bytes += block->size;
	if (!device->ops->check(device, block->addr, block->size,
				block->event) &&
	    !result->changed++) {
		result->first_event = block->event;
		result->first_seen = event;
		result->first_size = block->size;
	}
	block->size = 0;
}

void memory_check_end(struct memory_check *check, uint64_t event)
{
	for (uint32_t id = 0; check->blocks && id < check->block_ids; id++)
		memory_check_read(check, id, event);
	free(check->blocks);
	check->blocks = NULL;
}
