/* SPDX-License-Identifier: MIT */
/*
 * A run in the form in which torch.cuda.memory._dump_snapshot() would have
 * written it: torch/csrc/cuda/Module.cpp and torch/cuda/memory.py of the
 * release that was replayed, so that a file has the keys of that release.
 *
 * The traces come first, as they are written during the run; the order of a
 * dict's keys does not matter.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/exchange/pickler.h"
#include "report/exchange/exchange.h"
#include "study/metrics/event_search.h"

/* Frequent texts: written once, then referred to by number. */
enum word {
	WORD_ACTION,
	WORD_ADDR,
	WORD_DEVICE_FREE,
	WORD_SIZE,
	WORD_STREAM,
	WORD_TIME_US,
	WORD_COMPILE_CONTEXT,
	WORD_NOT_AVAILABLE,
	WORD_USER_METADATA,
	WORD_EMPTY,
	WORD_POOL_ID,
	WORD_FRAMES,
	WORD_NAME,
	WORD_FILENAME,
	WORD_LINE,
	WORD_ALLOC,
	WORD_FREE_REQUESTED,
	WORD_FREE_COMPLETED,
	WORD_SEGMENT_ALLOC,
	WORD_SEGMENT_FREE,
	WORD_SEGMENT_MAP,
	WORD_SEGMENT_UNMAP,
	WORD_OOM,
	WORD_SEGMENTS,
	WORD_DEVICE_TRACES,
	WORD_ALLOCATOR_SETTINGS,
	WORD_EXTERNAL_ANNOTATIONS,
	WORD_DEVICE,
	WORD_ADDRESS,
	WORD_TOTAL_SIZE,
	WORD_ALLOCATED_SIZE,
	WORD_ACTIVE_SIZE,
	WORD_REQUESTED_SIZE,
	WORD_SEGMENT_TYPE,
	WORD_SMALL,
	WORD_LARGE,
	WORD_SEGMENT_POOL_ID,
	WORD_IS_EXPANDABLE,
	WORD_BLOCKS,
	WORD_STATE,
	WORD_ACTIVE_ALLOCATED,
	WORD_ACTIVE_PENDING_FREE,
	WORD_INACTIVE,
	WORD_HISTORY,
	WORD_REAL_SIZE,
	WORD_STAGE,
	WORD_START,
	WORD_END,
	WORDS,
};

struct snapshot {
	const struct gp_trace *trace;
	const struct gp_settings *settings;
	const char *conf;
	uint8_t release; /* that decides which keys are written */
	struct pickler pickler;
	uint32_t words[WORDS]; /* kept, or 0 */
	uint32_t *stacks;      /* by site: its list of frames */
	uint32_t *frames;      /* by text: its dict */
};

/* ---- its parts ---- */

/* First releases that write a key. */
#define SINCE_ADDRESS	    1 /* of a block, frames, pools, expandable */
#define SINCE_CAPTURE_REUSE 9

static const char *const words[WORDS] = {
	[WORD_ACTION] = "action",
	[WORD_ADDR] = "addr",
	[WORD_DEVICE_FREE] = "device_free",
	[WORD_SIZE] = "size",
	[WORD_STREAM] = "stream",
	[WORD_TIME_US] = "time_us",
	[WORD_COMPILE_CONTEXT] = "compile_context",
	[WORD_NOT_AVAILABLE] = "N/A",
	[WORD_USER_METADATA] = "user_metadata",
	[WORD_EMPTY] = "",
	[WORD_POOL_ID] = "pool_id",
	[WORD_FRAMES] = "frames",
	[WORD_NAME] = "name",
	[WORD_FILENAME] = "filename",
	[WORD_LINE] = "line",
	[WORD_ALLOC] = "alloc",
	[WORD_FREE_REQUESTED] = "free_requested",
	[WORD_FREE_COMPLETED] = "free_completed",
	[WORD_SEGMENT_ALLOC] = "segment_alloc",
	[WORD_SEGMENT_FREE] = "segment_free",
	[WORD_SEGMENT_MAP] = "segment_map",
	[WORD_SEGMENT_UNMAP] = "segment_unmap",
	[WORD_OOM] = "oom",
	[WORD_SEGMENTS] = "segments",
	[WORD_DEVICE_TRACES] = "device_traces",
	[WORD_ALLOCATOR_SETTINGS] = "allocator_settings",
	[WORD_EXTERNAL_ANNOTATIONS] = "external_annotations",
	[WORD_DEVICE] = "device",
	[WORD_ADDRESS] = "address",
	[WORD_TOTAL_SIZE] = "total_size",
	[WORD_ALLOCATED_SIZE] = "allocated_size",
	[WORD_ACTIVE_SIZE] = "active_size",
	[WORD_REQUESTED_SIZE] = "requested_size",
	[WORD_SEGMENT_TYPE] = "segment_type",
	[WORD_SMALL] = "small",
	[WORD_LARGE] = "large",
	[WORD_SEGMENT_POOL_ID] = "segment_pool_id",
	[WORD_IS_EXPANDABLE] = "is_expandable",
	[WORD_BLOCKS] = "blocks",
	[WORD_STATE] = "state",
	[WORD_ACTIVE_ALLOCATED] = "active_allocated",
	[WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
	[WORD_INACTIVE] = "inactive",
	[WORD_HISTORY] = "history",
	[WORD_REAL_SIZE] = "real_size",
	[WORD_STAGE] = "stage",
	[WORD_START] = "START",
	[WORD_END] = "END",
};

static const enum word states[] = {
	[GP_INACTIVE] = WORD_INACTIVE,
	[GP_ACTIVE] = WORD_ACTIVE_ALLOCATED,
	[GP_PENDING_FREE] = WORD_ACTIVE_PENDING_FREE,
};

static void snapshot_begin(struct snapshot *s,
			   const struct gp_exchange_config *config)
{
	const struct gp_trace *trace = config->trace;

	s->trace = trace;
	s->settings = config->settings;
	s->conf = config->conf;
	s->release = config->settings->release;
	s->stacks = gp_mem_alloc(trace->site_count, sizeof(*s->stacks));
	s->frames = gp_mem_alloc(trace->text_count, sizeof(*s->frames));
	pickler_begin(&s->pickler, config->out);
}

static void snapshot_release(struct snapshot *s)
{
	free(s->stacks);
	free(s->frames);
}

/* ---- values ---- */

static void snapshot_text(struct snapshot *s, const char *text)
{
	pickler_text(&s->pickler, text, strlen(text));
}

static void snapshot_word(struct snapshot *s, enum word word)
{
	if (s->words[word]) {
		pickler_again(&s->pickler, s->words[word]);
		return;
	}
	snapshot_text(s, words[word]);
	s->words[word] = pickler_keep(&s->pickler);
}

static void snapshot_uint(struct snapshot *s, enum word key, uint64_t value)
{
	snapshot_word(s, key);
	pickler_uint(&s->pickler, value);
}

static void snapshot_stream(struct snapshot *s, uint16_t stream)
{
	assert(stream < s->trace->stream_count);
	/* PyTorch writes handles signed. */
	snapshot_word(s, WORD_STREAM);
	pickler_int(&s->pickler, (int64_t)s->trace->streams[stream]);
}

static void snapshot_pool(struct snapshot *s, enum word key, uint16_t pool)
{
	struct gp_pool_id id = { 0, 0 };

	if (pool < s->trace->pool_count)
		id = s->trace->pools[pool];
	snapshot_word(s, key);
	pickler_pair(&s->pickler, id.first, id.second);
}

/* ---- stacks ---- */

static void put_frame(struct snapshot *s, uint32_t text)
{
	struct pickler *p = &s->pickler;
	struct frame_parts frame;

	if (s->frames[text]) {
		pickler_again(p, s->frames[text]);
		return;
	}
	frame = frame_parts_of(s->trace->texts[text]);
	pickler_open_dict(p);
	snapshot_word(s, WORD_NAME);
	pickler_text(p, frame.name, frame.name_length);
	snapshot_word(s, WORD_FILENAME);
	pickler_text(p, frame.file, frame.file_length);
	snapshot_uint(s, WORD_LINE, frame.line);
	pickler_close_dict(p);
	s->frames[text] = pickler_keep(p);
}

static void snapshot_stack(struct snapshot *s, uint32_t site)
{
	struct pickler *p = &s->pickler;
	uint32_t texts[MOST_FRAMES];
	struct pickler_list list;
	size_t count;

	if (site != GP_NO_SITE && s->stacks[site]) {
		pickler_again(p, s->stacks[site]);
		return;
	}
	count = frame_stack(s->trace, site, texts);
	list = pickler_open_list(p);
	for (size_t i = 0; i < count; i++) {
		pickler_item(p, &list);
		put_frame(s, texts[i]);
	}
	pickler_close_list(p, &list);
	if (site != GP_NO_SITE)
		s->stacks[site] = pickler_keep(p);
}

/* ---- segments ---- */

/* A block's stack in the form of release 2.0. */
static void put_history(struct snapshot *s, const struct gp_block *block,
			uint32_t site)
{
	struct pickler *p = &s->pickler;
	struct pickler_list list;

	if (block->state == GP_INACTIVE)
		return;
	snapshot_word(s, WORD_HISTORY);
	list = pickler_open_list(p);
	pickler_item(p, &list);
	pickler_open_dict(p);
	snapshot_uint(s, WORD_ADDR, block->addr);
	snapshot_uint(s, WORD_REAL_SIZE, block->requested);
	if (site != GP_NO_SITE) {
		snapshot_word(s, WORD_FRAMES);
		snapshot_stack(s, site);
	}
	pickler_close_dict(p);
	pickler_close_list(p, &list);
}

static void put_block(struct snapshot *s, const struct gp_block *block,
		      const uint32_t *sites)
{
	uint32_t site = block->id == GP_NO_ID ? block->site : sites[block->id];
	struct pickler *p = &s->pickler;

	pickler_open_dict(p);
	if (s->release >= SINCE_ADDRESS)
		snapshot_uint(s, WORD_ADDRESS, block->addr);
	snapshot_uint(s, WORD_SIZE, block->size);
	snapshot_uint(s, WORD_REQUESTED_SIZE, block->requested);
	snapshot_word(s, WORD_STATE);
	snapshot_word(s, states[block->state]);
	if (s->release >= SINCE_ADDRESS) {
		snapshot_word(s, WORD_FRAMES);
		snapshot_stack(s, site);
	} else {
		put_history(s, block, site);
	}
	pickler_close_dict(p);
}

static void put_sums(struct snapshot *s, const struct gp_block *blocks,
		     uint32_t count)
{
	uint64_t allocated = 0, active = 0, requested = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (blocks[i].state == GP_INACTIVE)
			continue;
		active += blocks[i].size;
		requested += blocks[i].requested;
		if (blocks[i].state == GP_ACTIVE)
			allocated += blocks[i].size;
	}
	snapshot_uint(s, WORD_ALLOCATED_SIZE, allocated);
	snapshot_uint(s, WORD_ACTIVE_SIZE, active);
	snapshot_uint(s, WORD_REQUESTED_SIZE, requested);
}

static void put_segment(struct snapshot *s, uint32_t device,
			const struct gp_segment *segment,
			const struct gp_block *blocks, uint32_t site)
{
	struct pickler *p = &s->pickler;

	pickler_open_dict(p);
	snapshot_uint(s, WORD_DEVICE, device);
	snapshot_uint(s, WORD_ADDRESS, segment->addr);
	snapshot_uint(s, WORD_TOTAL_SIZE, segment->size);
	put_sums(s, blocks, segment->blocks);
	snapshot_stream(s, segment->stream);
	snapshot_word(s, WORD_SEGMENT_TYPE);
	snapshot_word(s, segment->is_small ? WORD_SMALL : WORD_LARGE);
	if (s->release >= SINCE_ADDRESS) {
		snapshot_pool(s, WORD_SEGMENT_POOL_ID, segment->pool);
		snapshot_word(s, WORD_IS_EXPANDABLE);
		pickler_bool(p, segment->is_expandable);
		snapshot_word(s, WORD_FRAMES);
		snapshot_stack(s, site);
	}
}

static void snapshot_segments(struct snapshot *s, struct pickler_list *list,
			      uint32_t device, const struct gp_state *state,
			      const uint32_t *sites,
			      const uint32_t *segment_sites)
{
	struct pickler *p = &s->pickler;

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];
		const struct gp_block *blocks =
			state->blocks + segment->first_block;
		struct pickler_list inner;

		pickler_item(p, list);
		put_segment(s, device, segment, blocks, segment_sites[i]);
		snapshot_word(s, WORD_BLOCKS);
		inner = pickler_open_list(p);
		for (uint32_t k = 0; k < segment->blocks; k++) {
			pickler_item(p, &inner);
			put_block(s, &blocks[k], sites);
		}
		pickler_close_list(p, &inner);
		pickler_close_dict(p);
	}
}

/* ---- settings and marks ---- */

static void put_divisions(struct snapshot *s)
{
	struct pickler *p = &s->pickler;
	char name[8];

	pickler_open_dict(p);
	for (int i = 0; i < GP_DIVISIONS; i++) {
		snprintf(name, sizeof(name), "%d", 1 << i);
		snapshot_text(s, name);
		pickler_uint(p, s->settings->divisions[i]);
	}
	pickler_close_dict(p);
}

static void snapshot_settings(struct snapshot *s)
{
	const struct gp_settings *settings = s->settings;
	struct pickler *p = &s->pickler;

	pickler_open_dict(p);
	snapshot_text(s, "PYTORCH_CUDA_ALLOC_CONF");
	snapshot_text(s, s->conf);
	snapshot_text(s, "max_split_size");
	if (settings->max_split_size == GP_UNLIMITED)
		pickler_int(p, -1);
	else
		pickler_uint(p, settings->max_split_size);
	snapshot_text(s, "garbage_collection_threshold");
	pickler_real(p, settings->gc_threshold);
	snapshot_text(s, "expandable_segments");
	pickler_bool(p, settings->expandable_segments);
	if (s->release >= SINCE_CAPTURE_REUSE) {
		snapshot_text(s, "graph_capture_record_stream_reuse");
		pickler_bool(p, settings->capture_reuse);
	}
	snapshot_text(s, "roundup_power2_divisions");
	put_divisions(s);
	pickler_close_dict(p);
}

static void put_annotation(struct snapshot *s, struct pickler_list *list,
			   uint32_t device, const struct gp_event *mark,
			   enum word stage, uint64_t time_us)
{
	struct pickler *p = &s->pickler;

	pickler_item(p, list);
	pickler_open_dict(p);
	snapshot_word(s, WORD_NAME);
	snapshot_text(s, s->trace->texts[mark->text]);
	snapshot_word(s, WORD_STAGE);
	snapshot_word(s, stage);
	snapshot_uint(s, WORD_DEVICE, device);
	snapshot_uint(s, WORD_TIME_US, time_us);
	pickler_close_dict(p);
}

/* PyTorch has no instant marks: such a mark is written as a beginning and an
 * end. */
static void put_mark(struct snapshot *s, struct pickler_list *list,
		     uint32_t device, const struct gp_event *mark,
		     uint64_t time_us)
{
	if (mark->mark != GP_MARK_END)
		put_annotation(s, list, device, mark, WORD_START, time_us);
	if (mark->mark != GP_MARK_START)
		put_annotation(s, list, device, mark, WORD_END, time_us);
}

static void snapshot_annotations(struct snapshot *s)
{
	struct pickler *p = &s->pickler;
	struct pickler_list list = pickler_open_list(p);

	for (size_t i = 0; i < s->trace->device_count; i++) {
		const struct gp_device_trace *d = &s->trace->devices[i];
		struct ticks ticks;

		ticks_begin(&ticks, d);
		for (size_t k = 0; k < d->event_count; k++) {
			uint64_t time_us = ticks_of(&ticks, k);

			if (d->events[k].kind == GP_MARK)
				put_mark(s, &list, d->device, &d->events[k],
					 time_us);
		}
	}
	pickler_close_list(p, &list);
}

/* ---- the whole ---- */

/* First releases that write a key. */
#define SINCE_TIME_US	      2
#define SINCE_SETTINGS	      3
#define SINCE_ANNOTATIONS     5
#define SINCE_COMPILE_CONTEXT 8
#define SINCE_USER_METADATA   10
#define SINCE_POOL_ID	      12

/* The final state of a device, kept until its segments are written. */
struct ended {
	const struct gp_state *state;
	uint32_t *segment_sites; /* by segment; owned */
};

struct run {
	struct snapshot s;
	struct pickler_list traces, entries;
	struct ended *ended;	/* by device */
	uint32_t device;	/* index of the current device */
	uint64_t next;		/* next device ordinal without a list */
	struct gp_map segments; /* address -> site, on the current device */
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
	r->ended = gp_mem_alloc(config->trace->device_count, sizeof(*r->ended));
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

	/* Devices in between are listed with empty traces. */
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
	ended->segment_sites = gp_mem_alloc(result->end.segment_count,
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
		uint32_t *sites = gp_alloc_sites(d);

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
