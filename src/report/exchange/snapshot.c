/* SPDX-License-Identifier: MIT */
/*
 * A run as torch.cuda.memory._dump_snapshot() would have written it:
 * torch/csrc/ cuda/Module.cpp and torch/cuda/memory.py of the release that was
 * replayed, so that a file has the keys of that release.
 *
 * The traces come first, as they happen; a dict has no order.
 */
#include "report/exchange/snapshot.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/exchange/frame.h"
#include "report/exchange/ticks.h"
#include "report/exchange/writer.h"

/* First releases that write a key. */
#define SINCE_TIME_US	      2
#define SINCE_SETTINGS	      3
#define SINCE_ANNOTATIONS     5
#define SINCE_COMPILE_CONTEXT 8
#define SINCE_USER_METADATA   10
#define SINCE_POOL_ID	      12

/* What is kept of a device until its segments are written. */
struct ended {
	const struct gp_state *state;
	uint32_t *segment_sites; /* by segment; owned */
};

struct run {
	struct snapshot s;
	struct pickler_list traces, entries;
	struct ended *ended;	/* by device */
	uint32_t device;	/* index; the one under way */
	uint64_t next;		/* ordinal that has no list yet */
	struct gp_map segments; /* address -> site, of the one under way */
	struct ticks ticks;
};

static const enum word actions[GP_EVENT_KINDS] = {
	[GP_ALLOC] = WORD_ALLOC,
	[GP_FREE] = WORD_FREE_REQUESTED,
	[GP_SEGMENT_ALLOC] = WORD_SEGMENT_ALLOC,
	[GP_SEGMENT_FREE] = WORD_SEGMENT_FREE,
	[GP_SEGMENT_MAP] = WORD_SEGMENT_MAP,
	[GP_SEGMENT_UNMAP] = WORD_SEGMENT_UNMAP,
	[GP_FREE_COMPLETED] = WORD_FREE_COMPLETED,
	[GP_OOM] = WORD_OOM,
};

/* ---- entries ---- */

static void put_entry(struct run *r, const struct gp_action *action,
		      uint64_t event)
{
	const struct gp_event *cause = &r->ticks.device->events[event];
	struct snapshot *s = &r->s;
	struct pickler *p = &s->pickler;

	pickler_item(p, &r->entries);
	pickler_open_dict(p);
	snapshot_word(s, WORD_ACTION);
	snapshot_word(s, actions[action->kind]);
	snapshot_uint(s, action->kind == GP_OOM ? WORD_DEVICE_FREE : WORD_ADDR,
		      action->addr);
	snapshot_uint(s, WORD_SIZE, action->size);
	snapshot_stream(s, action->stream);
	if (s->release >= SINCE_TIME_US)
		snapshot_uint(s, WORD_TIME_US, ticks_of(&r->ticks, event));
	if (s->release >= SINCE_COMPILE_CONTEXT) {
		snapshot_word(s, WORD_COMPILE_CONTEXT);
		snapshot_word(s, WORD_NOT_AVAILABLE);
	}
	if (s->release >= SINCE_USER_METADATA) {
		snapshot_word(s, WORD_USER_METADATA);
		snapshot_word(s, WORD_EMPTY);
	}
	if (s->release >= SINCE_POOL_ID)
		snapshot_pool(s, WORD_POOL_ID, action->pool);
	if (cause->site != GP_NO_SITE) {
		snapshot_word(s, WORD_FRAMES);
		snapshot_stack(s, cause->site);
	}
	pickler_close_dict(p);
}

static void add_action(void *state, const struct gp_action *action,
		       uint64_t event)
{
	struct run *r = state;

	if (action->kind == GP_SNAPSHOT)
		return;
	if (gp_event_is_growth(action->kind))
		gp_map_put(&r->segments, action->addr,
			   r->ticks.device->events[event].site);
	put_entry(r, action, event);
}

/* ---- devices ---- */

static void *begin(const struct gp_exchange_config *config)
{
	struct run *r = gp_mem_alloc(1, sizeof(*r));

	snapshot_begin(&r->s, config);
	r->ended = gp_mem_alloc(config->trace->device_count + 1,
				sizeof(*r->ended));
	pickler_open_dict(&r->s.pickler);
	snapshot_word(&r->s, WORD_DEVICE_TRACES);
	r->traces = pickler_open_list(&r->s.pickler);
	return r;
}

static void begin_device(void *state, uint32_t index)
{
	struct run *r = state;
	struct pickler *p = &r->s.pickler;
	const struct gp_device_trace *device = &r->s.trace->devices[index];

	/* Those between are there and did nothing. */
	for (; r->next <= device->device; r->next++) {
		pickler_item(p, &r->traces);
		r->entries = pickler_open_list(p);
	}
	r->device = index;
	ticks_begin(&r->ticks, device);
	for (size_t i = 0; i < device->start.segment_count; i++)
		gp_map_put(&r->segments, device->start.segments[i].addr,
			   device->start.segments[i].site);
}

static void end_device(void *state, const struct gp_replay_result *result)
{
	struct run *r = state;
	struct ended *ended = &r->ended[r->device];

	pickler_close_list(&r->s.pickler, &r->entries);
	ended->state = &result->end;
	ended->segment_sites = gp_mem_alloc(result->end.segment_count + 1,
					    sizeof(*ended->segment_sites));
	for (size_t i = 0; i < result->end.segment_count; i++)
		ended->segment_sites[i] =
			gp_map_get(&r->segments, result->end.segments[i].addr);
	gp_map_release(&r->segments);
	r->segments = (struct gp_map){ 0 };
}

/* ---- the rest ---- */

static void put_segments(struct run *r)
{
	struct pickler *p = &r->s.pickler;
	struct pickler_list list;

	snapshot_word(&r->s, WORD_SEGMENTS);
	list = pickler_open_list(p);
	for (size_t i = 0; i < r->s.trace->device_count; i++) {
		const struct gp_device_trace *d = &r->s.trace->devices[i];
		uint32_t *sites = frame_sites(d);

		snapshot_segments(&r->s, &list, d->device, r->ended[i].state,
				  sites, r->ended[i].segment_sites);
		free(sites);
	}
	pickler_close_list(p, &list);
}

static void end(void *state)
{
	struct run *r = state;
	struct pickler *p = &r->s.pickler;

	pickler_close_list(p, &r->traces);
	put_segments(r);
	if (r->s.release >= SINCE_SETTINGS) {
		snapshot_word(&r->s, WORD_ALLOCATOR_SETTINGS);
		snapshot_settings(&r->s);
	}
	if (r->s.release >= SINCE_ANNOTATIONS) {
		snapshot_word(&r->s, WORD_EXTERNAL_ANNOTATIONS);
		snapshot_annotations(&r->s);
	}
	pickler_close_dict(p);
	pickler_end(p);
}

static void release(void *state)
{
	struct run *r = state;

	for (size_t i = 0; i < r->s.trace->device_count; i++)
		free(r->ended[i].segment_sites);
	free(r->ended);
	gp_map_release(&r->segments);
	snapshot_release(&r->s);
	free(r);
}

const struct writer snapshot_writer = {
	.begin = begin,
	.device = begin_device,
	.action = add_action,
	.result = end_device,
	.end = end,
	.release = release,
};
