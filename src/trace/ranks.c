/* SPDX-License-Identifier: MIT */
/* The ranks of a job, grouped by their requests. */
#include "trace/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

/*
 * ---- whether replays of two traces are the same ----
 *
 * Everything that a replay reads of a trace is converted to words, which are
 * hashed and compared.
 */

/* Processes have their memory above this address and the simulated device below
 * it, so that only the distances between such addresses matter. */
#define HIGH_ADDRESS (UINT64_C(1) << 46)

#define EVENT_WORDS 8

struct view {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	/* The range of addresses that matter, and what is subtracted from
	 * them. */
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
	/* Apart from the default stream's, the value of a handle has no
	 * meaning. */
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

/* The first member of an event; for GP_OOM and GP_SET_FRACTION it is not an
 * address. */
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
	words[7] = s->offset;
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
	/* Matters if addresses could collide with the simulated device. */
	words[5] = v->end && !v->base ? t->device : 0;
	words[6] = v->base != 0;
	words[7] = v->trace->is_complete;
}

/* Everything of a device that a replay reads. */
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

/* ---- addresses that matter ---- */

static bool has_restored(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].flags & GP_RESTORED)
			return true;
	return false;
}

/* The addresses within the memory at the start; or all, if blocks have to be
 * restored at their addresses. */
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

	print = gp_hash64(print + text_word(trace->source));
	print = gp_hash64(print + trace->release.first * UINT64_C(256) +
			  trace->release.last);
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

/* Compares settings that change during the trace; their words are only
 * hashes. */
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

/* ---- ranks and their classes ---- */

/* Only computed when there is something to compare: for a single trace it would
 * take a fifth of a command's time. */
static uint64_t print_of(struct gp_rank_class *class)
{
	if (!class->has_print)
		class->print = gp_trace_print(class->trace);
	class->has_print = true;
	return class->print;
}

static struct gp_rank_class *find(struct gp_ranks *ranks, uint64_t print,
				  const struct gp_trace *trace)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (print_of(&ranks->classes[i]) == print &&
		    (!ranks->classes[i].trace ||
		     gp_trace_alike(ranks->classes[i].trace, trace)))
			return &ranks->classes[i];
	return NULL;
}

static bool has_requests(const struct gp_device_trace *t)
{
	for (size_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind < GP_FIRST_OUTCOME &&
		    t->events[i].kind != GP_MARK)
			return true;
	return false;
}

bool gp_trace_has_requests(const struct gp_trace *trace)
{
	for (uint32_t d = 0; d < trace->device_count; d++)
		if (has_requests(&trace->devices[d]))
			return true;
	return false;
}

static struct gp_rank_class *begin(struct gp_ranks *ranks, uint64_t print,
				   struct gp_trace *trace)
{
	struct gp_rank_class *class;

	GP_GROW(ranks->classes, ranks->count + 1, ranks->room);
	class = &ranks->classes[ranks->count++];
	*class = (struct gp_rank_class){ .trace = trace,
					 .print = print,
					 .has_print = ranks->count > 1,
					 .is_idle = !gp_trace_has_requests(
						 trace) };
	return class;
}

/* Only devices with requests count: a process's marks are on its first device,
 * whether it uses that or not. */
static void count_users(struct gp_ranks *ranks, const struct gp_trace *trace)
{
	for (uint32_t i = 0; i < trace->device_count; i++)
		if (has_requests(&trace->devices[i]) &&
		    trace->devices[i].device < GP_RANK_DEVICES)
			ranks->used_by[trace->devices[i].device]++;
}

void gp_ranks_add(struct gp_ranks *ranks, const char *path,
		  struct gp_trace *trace)
{
	uint64_t print = ranks->count ? gp_trace_print(trace) : 0;
	struct gp_rank_class *class = find(ranks, print, trace);

	count_users(ranks, trace);
	if (class)
		gp_trace_destroy(trace);
	else
		class = begin(ranks, print, trace);
	GP_GROW(class->paths, class->count + 1, class->room);
	class->paths[class->count++] = gp_mem_copy_text(path, strlen(path));
	ranks->files++;
}

void gp_rank_class_drop(struct gp_rank_class *class)
{
	print_of(class);
	gp_trace_destroy(class->trace);
	class->trace = NULL;
}

/* Moves one class; the others keep their order. */
static void put_before(struct gp_ranks *ranks, size_t from, size_t to)
{
	struct gp_rank_class moved = ranks->classes[from];

	memmove(&ranks->classes[to + 1], &ranks->classes[to],
		(from - to) * sizeof(*ranks->classes));
	ranks->classes[to] = moved;
}

static bool is_behind(const struct gp_rank_class *a,
		      const struct gp_rank_class *b)
{
	return a->is_idle != b->is_idle ? a->is_idle : a->count < b->count;
}

void gp_ranks_sort(struct gp_ranks *ranks)
{
	for (size_t i = 1; i < ranks->count; i++) {
		size_t to = i;

		while (to &&
		       is_behind(&ranks->classes[to - 1], &ranks->classes[i]))
			to--;
		put_before(ranks, i, to);
	}
}

size_t gp_ranks_busy(const struct gp_ranks *ranks)
{
	size_t busy = 0;

	while (busy < ranks->count && !ranks->classes[busy].is_idle)
		busy++;
	return busy;
}

/* The number of files with the same release and settings. */
static size_t files_like(const struct gp_ranks *ranks,
			 const struct gp_rank_class *like)
{
	size_t files = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		if (class->release == like->release &&
		    !strcmp(class->conf, like->conf))
			files += class->count;
	}
	return files;
}

size_t gp_ranks_lead(const struct gp_ranks *ranks)
{
	size_t lead = 0, most = 0, busy = gp_ranks_busy(ranks);

	for (size_t i = 0; i < (busy ? busy : ranks->count); i++) {
		const struct gp_rank_class *class = &ranks->classes[i];
		size_t files = files_like(ranks, class);

		if (files < most ||
		    (files == most &&
		     class->release <= ranks->classes[lead].release))
			continue;
		lead = i;
		most = files;
	}
	return lead;
}

size_t gp_ranks_class_of(const struct gp_ranks *ranks, size_t index)
{
	size_t i = 0;

	while (i + 1 < ranks->count &&
	       ranks->classes[i + 1].first_case <= index)
		i++;
	return i;
}

void gp_ranks_add_unread(struct gp_ranks *ranks, const char *path,
			 const char *reason)
{
	GP_GROW(ranks->unread, ranks->unread_count + 1, ranks->unread_room);
	ranks->unread[ranks->unread_count++] = (struct gp_rank_unread){
		.path = gp_mem_copy_text(path, strlen(path)),
		.reason = gp_mem_copy_text(reason, strlen(reason)),
	};
}

void gp_ranks_release(struct gp_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++) {
		for (size_t k = 0; k < ranks->classes[i].count; k++)
			free(ranks->classes[i].paths[k]);
		free(ranks->classes[i].paths);
		free(ranks->classes[i].conf);
		gp_trace_destroy(ranks->classes[i].trace);
	}
	for (size_t i = 0; i < ranks->unread_count; i++) {
		free(ranks->unread[i].path);
		free(ranks->unread[i].reason);
	}
	free(ranks->classes);
	free(ranks->unread);
	*ranks = (struct gp_ranks){ 0 };
}

/* ---- replays ---- */

void gp_rank_runs_init(struct gp_rank_runs *runs, struct gp_ranks *ranks)
{
	size_t cases = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		ranks->classes[i].first_case = cases;
		cases += ranks->classes[i].trace->device_count;
	}
	*runs = (struct gp_rank_runs){
		.ranks = ranks,
		.runs = gp_mem_alloc(cases + 1, sizeof(*runs->runs)),
		.troubles =
			gp_mem_alloc(ranks->count + 1, sizeof(*runs->troubles)),
		.count = cases,
	};
}

static bool is_worse(const struct gp_rank_run *a, const struct gp_rank_run *b)
{
	if (a->is_there != b->is_there)
		return a->is_there;
	if (a->dropped != b->dropped)
		return a->dropped > b->dropped;
	if (a->ooms != b->ooms)
		return a->ooms > b->ooms;
	return a->reserved > b->reserved;
}

size_t gp_rank_runs_worst(const struct gp_rank_runs *runs)
{
	size_t worst = 0;

	for (size_t i = 1; i < runs->count; i++)
		if (is_worse(&runs->runs[i], &runs->runs[worst]))
			worst = i;
	return gp_ranks_class_of(runs->ranks, worst);
}

void gp_rank_runs_release(struct gp_rank_runs *runs)
{
	for (size_t i = 0; runs->ranks && i < runs->ranks->count; i++)
		free(runs->troubles[i]);
	free(runs->troubles);
	free(runs->runs);
	*runs = (struct gp_rank_runs){ 0 };
}
