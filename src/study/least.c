/* SPDX-License-Identifier: MIT */
/*
 * A lower bound for what the caching allocator reserves for a trace, whatever
 * the size of the device. No segment serves two streams, or both small and
 * large requests, so each combination of these has whole segments of its own.
 */
#include "study/least.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "gpupool/allocator.h"

#define GRAIN GP_DEVICE_GRAIN

struct sum {
	const struct gp_settings *settings;
	uint64_t least_large; /* smallest segment of large requests, in bytes */
	uint64_t *shares;     /* live bytes by stream, small and large */
	uint64_t **of;	      /* by id: the block's share; NULL: not live */
	uint64_t *sizes;      /* by id */
	uint64_t now, most;
};

static uint64_t whole(uint64_t bytes)
{
	return gp_round_up(bytes, GRAIN);
}

static uint64_t reserved(const struct sum *sum, const uint64_t *share)
{
	bool is_large = (share - sum->shares) % 2;

	if (!*share)
		return 0;
	return is_large ? gp_larger(whole(*share), sum->least_large)
			: whole(*share);
}

static void change(struct sum *sum, uint64_t *share, uint64_t bytes)
{
	sum->now -= reserved(sum, share);
	*share = bytes;
	sum->now += reserved(sum, share);
	sum->most = gp_larger(sum->most, sum->now);
}

static void add(struct sum *sum, const struct gp_event *event)
{
	uint64_t size = gp_settings_round(sum->settings, event->size);
	uint64_t *share = &sum->shares[2 * (size_t)event->stream +
				       (size > GP_SMALL_SIZE)];

	if (!event->size)
		return;
	sum->of[event->id] = share;
	sum->sizes[event->id] = size;
	change(sum, share, *share + size);
}

static void take(struct sum *sum, const struct gp_event *event)
{
	uint64_t *share = sum->of[event->id];

	if (!share)
		return;
	sum->of[event->id] = NULL;
	change(sum, share, *share - sum->sizes[event->id]);
}

/* Finds the smallest segment of large requests. False: the trace contains
 * something that makes smaller or shared segments possible. */
static bool find_least(struct sum *sum, const struct gp_device_trace *t)
{
	sum->least_large = sum->settings->large_segment_size;
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];
		uint64_t size;

		if (event->kind == GP_SET_SETTINGS)
			return false;
		if (event->kind != GP_ALLOC)
			continue;
		size = gp_settings_round(sum->settings, event->size);
		if (event->flags & GP_RESTORED || event->size > INT64_MAX)
			return false;
		if (size >= GP_MIN_LARGE_ALLOC)
			sum->least_large = gp_smaller(sum->least_large, size);
	}
	return true;
}

uint64_t least_reserved(const struct gp_trace *trace, uint32_t device,
			const struct gp_settings *settings)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct sum sum = { .settings = settings };

	if (settings->large_segment_size % GRAIN || t->start.segment_count ||
	    trace->pool_count > 1 || !find_least(&sum, t))
		return 0;
	sum.shares =
		gp_mem_alloc(2 * trace->stream_count + 2, sizeof(*sum.shares));
	sum.of = gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*sum.of));
	sum.sizes = gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*sum.sizes));
	for (size_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind == GP_ALLOC)
			add(&sum, &t->events[i]);
		else if (t->events[i].kind == GP_FREE)
			take(&sum, &t->events[i]);
	free(sum.shares);
	free(sum.of);
	free(sum.sizes);
	return sum.most;
}
