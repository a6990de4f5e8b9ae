/* SPDX-License-Identifier: MIT */
/*
 * Whether a replay of two traces does the same: what it reads of a trace, as
 * words that are hashed, and compared.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "trace/ranks.h"

/* Where processes have their memory; the simulated device's lies below, so that
 * only distances between such addresses count. */
#define HIGH_ADDRESS (UINT64_C(1) << 46)

#define EVENT_WORDS 8

struct view {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	/* Addresses that count, less base. */
	uint64_t first, end, base;
};

/* ---- words ---- */

static uint64_t text_word(const char *text)
{
	uint64_t word = text ? 1 : 0;

	for (; text && *text; text++)
		word = gp_hash64(word * 31 + (unsigned char)*text);
	return word;
}

static uint64_t stream_word(const struct view *v, uint16_t stream)
{
	if (stream >= GP_NO_STREAM)
		return stream;
	/* A handle has no meaning but of the default stream. */
	return (uint64_t)stream << 1 | (v->trace->streams[stream] == 0);
}

static uint64_t pool_word(const struct view *v, uint16_t pool)
{
	const struct gp_pool_id *id = &v->trace->pools[pool];

	return (uint64_t)pool << 2 | (id->first != 0) << 1 | (id->second != 0);
}

static uint64_t address_word(const struct view *v, uint64_t addr)
{
	return addr && addr >= v->first && addr < v->end ? addr - v->base + 1
							 : 0;
}

/* What an event's first member says; of a failure it is no address. */
static uint64_t first_word(const struct view *v, const struct gp_event *event)
{
	return event->kind == GP_OOM || event->kind == GP_SET_FRACTION
		       ? event->addr
		       : address_word(v, event->addr);
}

static uint64_t id_word(const struct view *v, const struct gp_event *event)
{
	if (event->kind == GP_MARK)
		return 0; /* a name */
	return gp_event_fields(event->kind) & GP_HAS_TEXT
		       ? text_word(v->trace->texts[event->text])
		       : event->id;
}

static void event_words(const struct view *v, size_t index,
			uint64_t words[EVENT_WORDS])
{
	const struct gp_event *event = &v->device->events[index];
	bool waits = event->flags & GP_STREAM_WAITS;

	words[0] = (uint64_t)event->kind << 8 | event->flags;
	words[1] = event->size;
	words[2] = first_word(v, event);
	words[3] = id_word(v, event);
	words[4] = stream_word(v, event->stream);
	words[5] = pool_word(v, event->pool);
	words[6] = waits ? stream_word(v, event->by) : event->mark;
	words[7] = 0;
}

static void segment_words(const struct view *v, size_t index,
			  uint64_t words[EVENT_WORDS])
{
	const struct gp_segment *s = &v->device->start.segments[index];

	words[0] = address_word(v, s->addr);
	words[1] = s->size;
	words[2] = stream_word(v, s->stream);
	words[3] = pool_word(v, s->pool);
	words[4] = (uint64_t)s->is_small << 1 | s->is_expandable;
	words[5] = s->first_block;
	words[6] = s->blocks;
	words[7] = 0;
}

static void block_words(const struct view *v, size_t index,
			uint64_t words[EVENT_WORDS])
{
	const struct gp_block *b = &v->device->start.blocks[index];

	words[0] = address_word(v, b->addr);
	words[1] = b->size;
	words[2] = b->requested;
	words[3] = b->id;
	words[4] = b->state;
	words[5] = words[6] = words[7] = 0;
}

static void head_words(const struct view *v, size_t index,
		       uint64_t words[EVENT_WORDS])
{
	const struct gp_device_trace *t = v->device;

	(void)index;
	words[0] = t->total_memory;
	words[1] = t->event_count;
	words[2] = t->block_ids;
	words[3] = t->start.segment_count;
	words[4] = t->start.block_count;
	/* Where the simulated device's addresses are in the way. */
	words[5] = v->end && !v->base ? t->device : 0;
	words[6] = v->base != 0;
	words[7] = v->trace->is_complete;
}

/* All of a device that a replay reads. */
static const struct list {
	void (*words)(const struct view *v, size_t index,
		      uint64_t words[EVENT_WORDS]);
} lists[] = {
	{ head_words }, { segment_words }, { block_words }, { event_words }
};

#define LISTS (sizeof(lists) / sizeof(*lists))

static size_t list_count(const struct gp_device_trace *device, size_t list)
{
	const size_t counts[LISTS] = { 1, device->start.segment_count,
				       device->start.block_count,
				       device->event_count };

	return counts[list];
}

/* ---- addresses that count ---- */

static bool has_restored(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].flags & GP_RESTORED)
			return true;
	return false;
}

/* Those in the memory that is there at the start; all of them, where blocks
 * have to be where they were. */
static struct view view_of(const struct gp_trace *trace, size_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	const struct gp_segment *segments = t->start.segments;
	size_t count = t->start.segment_count;
	struct view v = { .trace = trace, .device = t };

	if (has_restored(t)) {
		v.end = UINT64_MAX;
	} else if (count) {
		v.first = segments[0].addr;
		v.end = segments[count - 1].addr + segments[count - 1].size;
		if (v.first >= HIGH_ADDRESS)
			v.base = v.first;
	}
	return v;
}

/* ---- whole traces ---- */

static uint64_t device_print(const struct view *v)
{
	uint64_t print = 0, words[EVENT_WORDS];

	for (size_t k = 0; k < LISTS; k++)
		for (size_t i = 0; i < list_count(v->device, k); i++) {
			lists[k].words(v, i, words);
			for (size_t w = 0; w < EVENT_WORDS; w++)
				print = gp_hash64(print + words[w] + 1) * 3;
		}
	return print;
}

uint64_t gp_trace_print(const struct gp_trace *trace)
{
	uint64_t print =
		gp_hash64(text_word(trace->settings) + trace->device_count);

	for (size_t d = 0; d < trace->device_count; d++) {
		struct view v = view_of(trace, d);

		print = gp_hash64(print + device_print(&v));
	}
	return print;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Settings that are set on the way, of which a word is only a hash. */
static bool same_settings(const struct view *v, const struct view *w,
			  size_t index)
{
	const struct gp_event *a = &v->device->events[index];
	const struct gp_event *b = &w->device->events[index];

	return a->kind != GP_SET_SETTINGS ||
	       same_text(v->trace->texts[a->text], w->trace->texts[b->text]);
}

static bool same_device(const struct gp_trace *a, const struct gp_trace *b,
			size_t device)
{
	struct view v = view_of(a, device), w = view_of(b, device);
	uint64_t x[EVENT_WORDS], y[EVENT_WORDS];

	for (size_t k = 0; k < LISTS; k++) {
		size_t count = list_count(v.device, k);

		if (list_count(w.device, k) != count)
			return false;
		for (size_t i = 0; i < count; i++) {
			lists[k].words(&v, i, x);
			lists[k].words(&w, i, y);
			if (memcmp(x, y, sizeof(x)) != 0 ||
			    (lists[k].words == event_words &&
			     !same_settings(&v, &w, i)))
				return false;
		}
	}
	return true;
}

bool gp_trace_alike(const struct gp_trace *a, const struct gp_trace *b)
{
	if (a->device_count != b->device_count ||
	    !same_text(a->settings, b->settings) ||
	    !same_text(a->source, b->source) ||
	    a->release.first != b->release.first ||
	    a->release.last != b->release.last)
		return false;
	for (size_t d = 0; d < a->device_count; d++)
		if (!same_device(a, b, d))
			return false;
	return true;
}
