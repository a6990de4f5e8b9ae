/* SPDX-License-Identifier: MIT */
/* Spans: the lifetimes of a trace, the peak of live bytes, and whether a
 * packing is valid. */
#include "study/floor/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

/* ---- from a trace ---- */

/* Of all blocks together; keeps sums below 2^64.  Those beyond are left out. */
#define MOST_BYTES (UINT64_C(1) << 62)

struct lifetimes {
	struct gp_spans *spans;
	size_t room;
	uint32_t *open; /* by id: its span + 1; 0: not live */
	uint64_t round;
	uint64_t bytes; /* of all spans, as requested */
};

static void begin(struct lifetimes *lifetimes, uint32_t id, uint64_t size,
		  uint64_t time)
{
	struct gp_spans *spans = lifetimes->spans;
	uint64_t over = size % lifetimes->round;

	if (!size || size > MOST_BYTES - lifetimes->bytes ||
	    lifetimes->open[id])
		return;
	lifetimes->bytes += size;
	GP_GROW(spans->items, spans->count + 1, lifetimes->room);
	spans->items[spans->count] = (struct gp_span){
		.lower = time,
		.upper = UINT64_MAX,
		.size = over ? size + lifetimes->round - over : size,
		.align = lifetimes->round,
		.id = id,
	};
	lifetimes->open[id] = (uint32_t)++spans->count;
}

static void end(struct lifetimes *lifetimes, uint32_t id, uint64_t time)
{
	if (lifetimes->open[id])
		lifetimes->spans->items[lifetimes->open[id] - 1].upper = time;
	lifetimes->open[id] = 0;
}

void gp_spans_of_trace(const struct gp_trace *trace, uint32_t device,
		       uint64_t round, struct gp_spans *spans)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct lifetimes lifetimes = { .spans = spans, .round = round };

	*spans = (struct gp_spans){ 0 };
	lifetimes.open =
		gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*lifetimes.open));
	for (size_t i = 0; i < t->start.block_count; i++)
		if (t->start.blocks[i].state == GP_ACTIVE &&
		    t->start.blocks[i].id != GP_NO_ID)
			begin(&lifetimes, t->start.blocks[i].id,
			      t->start.blocks[i].requested, 0);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC)
			begin(&lifetimes, event->id, event->size, i + 1);
		else if (event->kind == GP_FREE)
			end(&lifetimes, event->id, i + 1);
	}
	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].upper == UINT64_MAX)
			spans->items[i].upper = t->event_count + 1;
	free(lifetimes.open);
}

void gp_spans_release(struct gp_spans *spans)
{
	struct gp_arena *names = spans->memory;

	if (names)
		gp_arena_release(names);
	free(names);
	free(spans->items);
	free(spans->gaps);
	free(spans->names);
	free(spans->hints);
	*spans = (struct gp_spans){ 0 };
}

/* ---- in order of time ---- */

#define DIGIT 11 /* bits */
#define FEW   16

/* By time and kind, in the order of the spans where both are equal. */
static int by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

static void sort_few(struct moment *list, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct moment moved = list[i];
		size_t to = i;

		for (; to && by_moment(&moved, &list[to - 1]) < 0; to--)
			list[to] = list[to - 1];
		list[to] = moved;
	}
}

/* A digit of the times: some of their bits. */
struct digit {
	int shift, bits; /* at most DIGIT */
};

static size_t digit_of(const struct moment *moment, struct digit digit)
{
	return moment->time >> digit.shift & ((1U << digit.bits) - 1);
}

/* Moves every moment to the bucket of its digit; ends[d] becomes the end of
 * bucket d. */
static void fill_buckets(struct moment *list, size_t n, struct digit digit,
			 size_t *ends)
{
	size_t next[1 << DIGIT], end = 0, buckets = (size_t)1 << digit.bits;

	memset(ends, 0, buckets * sizeof(*ends));
	for (size_t i = 0; i < n; i++)
		ends[digit_of(&list[i], digit)]++;
	for (size_t d = 0; d < buckets; d++) {
		next[d] = end;
		ends[d] = end += ends[d];
	}
	for (size_t d = 0; d < buckets; d++)
		while (next[d] < ends[d]) {
			struct moment *place = &list[next[d]];
			size_t to = digit_of(place, digit);
			struct moment moved = *place;

			*place = list[next[to]];
			list[next[to]++] = moved;
		}
}

/* Sorts moments whose times differ in that many bits, by the first of these
 * bits and so on. In place: a second list would be a tenth of the memory of an
 * explanation. */
static void sort_by_bits(struct moment *list, size_t n, int bits)
{
	int below = bits > DIGIT ? bits - DIGIT : 0;
	size_t ends[1 << DIGIT], begin = 0;

	if (n <= FEW) {
		sort_few(list, n);
	} else if (!bits) {
		qsort(list, n, sizeof(*list), by_moment);
	} else {
		fill_buckets(list, n, (struct digit){ below, bits - below },
			     ends);
		for (size_t d = 0; d < (size_t)1 << (bits - below); d++) {
			sort_by_bits(list + begin, ends[d] - begin, below);
			begin = ends[d];
		}
	}
}

static void sort_by_time(struct moment *list, size_t n)
{
	uint64_t times = 0;
	int bits = 0;

	for (size_t i = 0; i < n; i++)
		times |= list[i].time;
	while (bits < 64 && times >> bits)
		bits++;
	sort_by_bits(list, n, bits);
}

static size_t add_piece(struct moment *list, uint32_t span, uint64_t lower,
			uint64_t upper)
{
	if (lower >= upper)
		return 0;
	list[0] = (struct moment){ lower, span, BEGINS };
	list[1] = (struct moment){ upper, span, ENDS };
	return 2;
}

size_t spans_moments(const struct gp_spans *spans, bool with_gaps,
		     struct moment **moments)
{
	size_t n = 0;
	struct moment *list = gp_mem_alloc(
		2 * (spans->count + spans->gap_count) + 1, sizeof(*list));

	for (uint32_t i = 0; i < spans->count; i++) {
		const struct gp_span *span = &spans->items[i];
		uint64_t lower = span->lower;

		for (uint32_t k = 0; with_gaps && k < span->gaps; k++) {
			const struct gp_span_gap *gap =
				&spans->gaps[span->first_gap + k];

			if (gap->to)
				continue;
			n += add_piece(list + n, i, lower, gap->lower);
			lower = gap->upper;
		}
		n += add_piece(list + n, i, lower, span->upper);
	}
	sort_by_time(list, n);
	*moments = list;
	return n;
}

bool gp_spans_have_windows(const struct gp_spans *spans)
{
	for (size_t i = 0; i < spans->gap_count; i++)
		if (spans->gaps[i].to)
			return true;
	return false;
}

/* The parts of all spans between and within their gaps, as spans without gaps:
 * within a gap, the bytes of its window. The caller frees the items. */
static struct gp_spans make_parts(const struct gp_spans *spans)
{
	struct gp_spans parts = { .items = gp_mem_alloc(
					  spans->count + 2 * spans->gap_count,
					  sizeof(*parts.items)) };

	for (size_t i = 0; i < spans->count; i++) {
		struct gp_span part = spans->items[i];

		part.gaps = 0;
		for (uint32_t k = 0; k < spans->items[i].gaps; k++) {
			const struct gp_span_gap *gap =
				&spans->gaps[part.first_gap + k];

			part.upper = gap->lower;
			parts.items[parts.count++] = part;
			part.lower = gap->upper;
			if (gap->to)
				parts.items[parts.count++] = (struct gp_span){
					.lower = gap->lower,
					.upper = gap->upper,
					.size = gap->to - gap->from,
				};
		}
		part.upper = spans->items[i].upper;
		parts.items[parts.count++] = part;
	}
	return parts;
}

static uint64_t bound_of_parts(const struct gp_spans *spans, uint64_t *time)
{
	struct gp_spans parts = make_parts(spans);
	uint64_t bound = gp_floor_bound(&parts, time);

	free(parts.items);
	return bound;
}

uint64_t gp_floor_bound(const struct gp_spans *spans, uint64_t *time)
{
	struct moment *moments;
	size_t n;
	uint64_t now = 0, most = 0;

	if (gp_spans_have_windows(spans))
		return bound_of_parts(spans, time);
	n = spans_moments(spans, true, &moments);
	*time = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t size = spans->items[moments[i].span].size;

		now = moments[i].kind == BEGINS ? now + size : now - size;
		if (now <= most)
			continue;
		most = now;
		*time = moments[i].time;
	}
	free(moments);
	return most;
}

/* ---- overlaps ---- */

static bool is_covered(const struct gp_spans *spans, const struct gp_span *span,
		       uint64_t lower, uint64_t upper)
{
	for (uint32_t i = 0; i < span->gaps; i++) {
		const struct gp_span_gap *gap =
			&spans->gaps[span->first_gap + i];

		if (!gap->to && gap->lower <= lower && gap->upper > lower)
			lower = gap->upper;
	}
	return lower >= upper;
}

/* Two spans that overlap in time are both in use at the beginning of one of
 * them, or at the end of a gap. */
static bool meet_at(const struct gp_spans *spans, const struct gp_span *a,
		    const struct gp_span *b, uint64_t time)
{
	return a->lower <= time && time < a->upper && b->lower <= time &&
	       time < b->upper && !is_covered(spans, a, time, time + 1) &&
	       !is_covered(spans, b, time, time + 1);
}

static bool meet_after_gaps(const struct gp_spans *spans,
			    const struct gp_span *a, const struct gp_span *b)
{
	for (uint32_t i = 0; i < a->gaps; i++)
		if (meet_at(spans, a, b, spans->gaps[a->first_gap + i].upper))
			return true;
	return false;
}

bool spans_meet(const struct gp_spans *spans, uint32_t i, uint32_t k)
{
	const struct gp_span *a = &spans->items[i], *b = &spans->items[k];

	if (a->lower >= b->upper || b->lower >= a->upper)
		return false;
	if (!a->gaps && !b->gaps)
		return true;
	return meet_at(spans, a, b, a->lower) ||
	       meet_at(spans, a, b, b->lower) || meet_after_gaps(spans, a, b) ||
	       meet_after_gaps(spans, b, a);
}

uint64_t spans_top(const struct gp_spans *spans, const uint64_t *offsets)
{
	uint64_t top = 0;

	for (size_t i = 0; i < spans->count; i++)
		if (offsets[i] + spans->items[i].size > top)
			top = offsets[i] + spans->items[i].size;
	return top;
}
