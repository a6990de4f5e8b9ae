/* SPDX-License-Identifier: MIT */
/* The first request at which two programs diverge. */
#include "base/sorted.h"
#include "study/metrics/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/site.h"

/* ---- the requests between marks ---- */

/*
 * A step begins at a mark and ends at the next; two steps are equal if they
 * request the same kinds and sizes in the same order.
 */
struct step {
	const char *name;
	uint64_t ordinal;  /* among the steps of its name, from 1 */
	uint64_t requests; /* number of alloc and free events */
	uint64_t hash;	   /* hash of their kinds and sizes, in order */
	size_t index;	   /* index in the trace */
};

struct steps {
	struct step *list;
	size_t count;
};

static size_t marks_in(const struct gp_device_trace *device)
{
	size_t count = 0;

	for (size_t i = 0; i < device->event_count; i++)
		count += device->events[i].kind == GP_MARK;
	return count;
}

static void begin(struct steps *steps, const struct gp_trace *trace,
		  const struct gp_event *mark, uint64_t *ordinals)
{
	struct step *step = &steps->list[steps->count];

	if (mark->mark == GP_MARK_END)
		return;
	*step = (struct step){
		.name = trace->texts[mark->text],
		.ordinal = ++ordinals[mark->text],
		.index = steps->count,
	};
	steps->count++;
}

static void add(struct step *step, const struct gp_event *event)
{
	step->requests++;
	step->hash = gp_hash64(step->hash ^ event->size) + event->kind;
}

static struct steps steps_of(const struct gp_trace *trace,
			     const struct gp_device_trace *device)
{
	struct steps steps = {
		.list = gp_mem_alloc(marks_in(device), sizeof(*steps.list)),
	};
	uint64_t *ordinals = gp_mem_alloc(trace->text_count, sizeof(*ordinals));

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_MARK)
			begin(&steps, trace, event, ordinals);
		else if (steps.count &&
			 (event->kind == GP_ALLOC || event->kind == GP_FREE))
			add(&steps.list[steps.count - 1], event);
	}
	free(ordinals);
	return steps;
}

static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

/* Keeps the first difference, in A's order. */
static void note_difference(struct gp_divergence_steps *result, size_t *index,
			    const struct step *a, const struct step *b)
{
	if (result->first && *index < a->index)
		return;
	*index = a->index;
	result->first = a->name;
	result->first_ordinal = a->ordinal;
	result->a_requests = a->requests;
	result->b_requests = b->requests;
}

static void match(struct gp_divergence_steps *result, const struct steps *a,
		  const struct steps *b)
{
	size_t i = 0, k = 0, first = 0;

	while (i < a->count && k < b->count) {
		const struct step *x = &a->list[i], *y = &b->list[k];
		int order = by_name(x, y);

		i += order <= 0;
		k += order >= 0;
		if (order)
			continue;
		result->both++;
		if (x->requests == y->requests && x->hash == y->hash)
			result->alike++;
		else
			note_difference(result, &first, x, y);
	}
}

static struct gp_divergence_steps steps_compare(
	const struct gp_trace *a, const struct gp_device_trace *a_device,
	const struct gp_trace *b, const struct gp_device_trace *b_device)
{
	struct steps x = steps_of(a, a_device), y = steps_of(b, b_device);
	struct gp_divergence_steps result = { .a = x.count, .b = y.count };

	qsort(x.list, x.count, sizeof(*x.list), by_name);
	qsort(y.list, y.count, sizeof(*y.list), by_name);
	match(&result, &x, &y);
	free(x.list);
	free(y.list);
	return result;
}

/* ---- the requests one by one ---- */

/* A mapping between the numbers of both sides, for streams, pools or blocks. */
struct names {
	uint32_t *forth, *back;
	size_t forth_count, back_count;
};

struct walk {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	size_t at;
	const char *step;
	uint64_t *sizes; /* by id, as requested */
	uint64_t *born;	 /* by id: the event that allocated it, from 1 */
};

struct walks {
	struct walk a, b;
	struct names streams, pools, blocks;
};

static uint32_t *unnamed(size_t count)
{
	uint32_t *names = gp_mem_alloc(count + 1, sizeof(*names));

	memset(names, 0xff, (count + 1) * sizeof(*names));
	return names;
}

static void names_init(struct names *names, size_t a, size_t b)
{
	*names = (struct names){ unnamed(a), unnamed(b), a, b };
}

static void names_release(struct names *names)
{
	free(names->forth);
	free(names->back);
}

/* Whether a and b are mapped to each other, or are both new and now become
 * so. */
static bool names_agree(struct names *names, uint32_t a, uint32_t b)
{
	if (a >= names->forth_count || b >= names->back_count)
		return (a >= names->forth_count) == (b >= names->back_count);
	if (names->forth[a] == UINT32_MAX && names->back[b] == UINT32_MAX) {
		names->forth[a] = b;
		names->back[b] = a;
	}
	return names->forth[a] == b;
}

static void walk_init(struct walk *walk, const struct gp_trace *trace,
		      uint32_t device)
{
	const struct gp_device_trace *d = &trace->devices[device];

	*walk = (struct walk){
		.trace = trace,
		.device = d,
		.sizes = gp_mem_alloc(d->block_ids, sizeof(*walk->sizes)),
		.born = gp_mem_alloc(d->block_ids, sizeof(*walk->born)),
	};
	for (size_t i = 0; i < d->start.block_count; i++)
		if (d->start.blocks[i].id < d->block_ids)
			walk->sizes[d->start.blocks[i].id] =
				d->start.blocks[i].requested;
}

/* The next request, skipping marks and outcomes; NULL at the end. */
static const struct gp_event *next(struct walk *walk)
{
	for (; walk->at < walk->device->event_count; walk->at++) {
		const struct gp_event *event = &walk->device->events[walk->at];

		if (event->kind == GP_MARK && event->mark != GP_MARK_END)
			walk->step = walk->trace->texts[event->text];
		if (event->kind < GP_FIRST_OUTCOME && event->kind != GP_MARK)
			return event;
	}
	return NULL;
}

static uint64_t size_of(const struct walk *walk, const struct gp_event *event)
{
	uint8_t fields = gp_event_fields(event->kind);

	if (event->kind != GP_ALLOC && (fields & GP_HAS_ID) &&
	    event->id < walk->device->block_ids)
		return walk->sizes[event->id];
	return fields & GP_HAS_SIZE ? event->size : 0;
}

static bool texts_agree(const struct walks *w, const struct gp_event *a,
			const struct gp_event *b)
{
	return !strcmp(w->a.trace->texts[a->text], w->b.trace->texts[b->text]);
}

/* Whether the program waits in both, or the same stream does. */
static bool waits_agree(struct walks *w, const struct gp_event *a,
			const struct gp_event *b)
{
	bool waits = a->flags & GP_STREAM_WAITS;

	if (waits != !!(b->flags & GP_STREAM_WAITS))
		return false;
	return !waits || names_agree(&w->streams, a->by, b->by);
}

static bool agree(struct walks *w, const struct gp_event *a,
		  const struct gp_event *b)
{
	uint8_t fields = gp_event_fields(a->kind);

	if (a->kind != b->kind || size_of(&w->a, a) != size_of(&w->b, b))
		return false;
	if ((fields & GP_HAS_STREAM) &&
	    !names_agree(&w->streams, a->stream, b->stream))
		return false;
	if (!waits_agree(w, a, b))
		return false;
	if ((fields & GP_HAS_POOL) && !names_agree(&w->pools, a->pool, b->pool))
		return false;
	if ((fields & GP_HAS_ID) && !names_agree(&w->blocks, a->id, b->id))
		return false;
	if ((fields & GP_HAS_FRACTION) && a->fraction != b->fraction)
		return false;
	return !(fields & GP_HAS_TEXT) || texts_agree(w, a, b);
}

static void pass(struct walk *walk, const struct gp_event *event)
{
	if (event->kind == GP_ALLOC && event->id < walk->device->block_ids) {
		walk->sizes[event->id] = event->size;
		walk->born[event->id] = walk->at + 1;
	}
	walk->at++;
}

static struct gp_request request(const struct walk *walk,
				 const struct gp_event *event)
{
	const struct gp_trace *trace = walk->trace;
	struct gp_request r = { .event = walk->at, .step = walk->step };
	uint8_t fields;

	if (!event)
		return r;
	fields = gp_event_fields(event->kind);
	r.is_there = true;
	r.kind = event->kind;
	r.size = size_of(walk, event);
	if ((fields & GP_HAS_STREAM) && event->stream < trace->stream_count)
		r.stream = trace->streams[event->stream];
	r.waits = event->flags & GP_STREAM_WAITS;
	if (r.waits)
		r.by = trace->streams[event->by];
	if ((fields & GP_HAS_POOL) && event->pool < trace->pool_count)
		r.pool = trace->pools[event->pool];
	if ((fields & GP_HAS_ID) && event->id < walk->device->block_ids)
		r.born = walk->born[event->id];
	if (fields & GP_HAS_FRACTION)
		r.fraction = event->fraction;
	if (fields & GP_HAS_TEXT)
		r.text = trace->texts[event->text];
	gp_site_text(trace, event->site, r.site);
	return r;
}

static void find(struct walks *w, struct gp_divergence *divergence)
{
	const struct gp_event *a, *b;

	for (;; divergence->common++) {
		a = next(&w->a);
		b = next(&w->b);
		if (!a || !b || !agree(w, a, b))
			break;
		pass(&w->a, a);
		pass(&w->b, b);
	}
	divergence->is_there = a || b;
	divergence->a = request(&w->a, a);
	divergence->b = request(&w->b, b);
}

/* The requested sizes of the live blocks of a start state, sorted. */
static size_t start_sizes(const struct gp_state *start, uint64_t **sizes)
{
	size_t n = 0;

	*sizes = gp_mem_alloc(start->block_count, sizeof(**sizes));
	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_ACTIVE)
			(*sizes)[n++] = start->blocks[i].requested;
	gp_sort(GP_SORTED_NUMBERS(*sizes, n));
	return n;
}

static bool starts_differ(const struct gp_state *a, const struct gp_state *b)
{
	uint64_t *x, *y;
	size_t n = start_sizes(a, &x);
	bool differ = n != start_sizes(b, &y) || memcmp(x, y, n * sizeof(*x));

	free(x);
	free(y);
	return differ;
}

struct gp_divergence gp_divergence_find(const struct gp_trace *a,
					uint32_t a_device,
					const struct gp_trace *b,
					uint32_t b_device)
{
	const struct gp_device_trace *x = &a->devices[a_device];
	const struct gp_device_trace *y = &b->devices[b_device];
	struct gp_divergence divergence = { 0 };
	struct walks w;

	walk_init(&w.a, a, a_device);
	walk_init(&w.b, b, b_device);
	names_init(&w.streams, a->stream_count, b->stream_count);
	names_init(&w.pools, a->pool_count, b->pool_count);
	names_init(&w.blocks, x->block_ids, y->block_ids);
	find(&w, &divergence);
	divergence.starts_differ = starts_differ(&x->start, &y->start);
	divergence.steps = steps_compare(a, x, b, y);
	names_release(&w.streams);
	names_release(&w.pools);
	names_release(&w.blocks);
	free(w.a.sizes);
	free(w.a.born);
	free(w.b.sizes);
	free(w.b.born);
	return divergence;
}
