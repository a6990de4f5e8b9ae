/* SPDX-License-Identifier: MIT */
/* The parts of a pickled snapshot. */
#include "report/exchange/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/exchange/frame.h"
#include "report/exchange/ticks.h"

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

void snapshot_begin(struct snapshot *s, const struct gp_exchange_config *config)
{
	const struct gp_trace *trace = config->trace;

	s->trace = trace;
	s->settings = config->settings;
	s->conf = config->conf;
	s->release = config->settings->release;
	s->stacks = gp_mem_alloc(trace->site_count + 1, sizeof(*s->stacks));
	s->frames = gp_mem_alloc(trace->text_count + 1, sizeof(*s->frames));
	pickler_begin(&s->pickler, config->out);
}

void snapshot_release(struct snapshot *s)
{
	free(s->stacks);
	free(s->frames);
}

/* ---- values ---- */

void snapshot_text(struct snapshot *s, const char *text)
{
	pickler_text(&s->pickler, text, strlen(text));
}

void snapshot_word(struct snapshot *s, enum word word)
{
	if (s->words[word]) {
		pickler_again(&s->pickler, s->words[word]);
		return;
	}
	snapshot_text(s, words[word]);
	s->words[word] = pickler_keep(&s->pickler);
}

void snapshot_uint(struct snapshot *s, enum word key, uint64_t value)
{
	snapshot_word(s, key);
	pickler_uint(&s->pickler, value);
}

void snapshot_stream(struct snapshot *s, uint16_t stream)
{
	bool is_known = stream < s->trace->stream_count;

	/* PyTorch writes handles signed. */
	snapshot_word(s, WORD_STREAM);
	pickler_int(&s->pickler,
		    is_known ? (int64_t)s->trace->streams[stream] : 0);
}

void snapshot_pool(struct snapshot *s, enum word key, uint16_t pool)
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
	struct frame frame;

	if (s->frames[text]) {
		pickler_again(p, s->frames[text]);
		return;
	}
	frame = frame_of(s->trace->texts[text]);
	pickler_open_dict(p);
	snapshot_word(s, WORD_NAME);
	pickler_text(p, frame.name, frame.name_length);
	snapshot_word(s, WORD_FILENAME);
	pickler_text(p, frame.file, frame.file_length);
	snapshot_uint(s, WORD_LINE, frame.line);
	pickler_close_dict(p);
	s->frames[text] = pickler_keep(p);
}

void snapshot_stack(struct snapshot *s, uint32_t site)
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

/* 2.0's way to tell a block's stack. */
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

void snapshot_segments(struct snapshot *s, struct pickler_list *list,
		       uint32_t device, const struct gp_state *state,
		       const uint32_t *sites, const uint32_t *segment_sites)
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

void snapshot_settings(struct snapshot *s)
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

/* PyTorch knows no points: what begins there ends there. */
static void put_mark(struct snapshot *s, struct pickler_list *list,
		     uint32_t device, const struct gp_event *mark,
		     uint64_t time_us)
{
	if (mark->mark != GP_MARK_END)
		put_annotation(s, list, device, mark, WORD_START, time_us);
	if (mark->mark != GP_MARK_START)
		put_annotation(s, list, device, mark, WORD_END, time_us);
}

void snapshot_annotations(struct snapshot *s)
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
