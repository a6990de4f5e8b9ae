/* SPDX-License-Identifier: MIT */
/* Captured streams, and what their work comes behind. */
#include "allocator/caching/capture.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/mem.h"
#include "gpupool/trace.h"

/* ---- sets of nodes ---- */

/* Where the stream is in the set, or would be. */
static size_t place_in(const struct node_set *set, uint16_t stream)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->list[middle].stream < stream)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t count_in(const struct node_set *set, uint16_t stream)
{
	size_t at = place_in(set, stream);

	return at < set->count && set->list[at].stream == stream
		       ? set->list[at].count
		       : 0;
}

static void raise_to(struct node_set *set, uint16_t stream, uint32_t count)
{
	size_t at = place_in(set, stream);

	if (at == set->count || set->list[at].stream != stream) {
		set->list = gp_mem_grow(set->list, &set->room, set->count + 1,
					sizeof(*set->list));
		memmove(set->list + at + 1, set->list + at,
			(set->count - at) * sizeof(*set->list));
		set->list[at] = (struct nodes){ stream, 0 };
		set->count++;
	}
	if (set->list[at].count < count)
		set->list[at].count = count;
}

/* Those of both. */
static void join(struct node_set *to, const struct node_set *from)
{
	for (size_t i = 0; i < from->count; i++)
		raise_to(to, from->list[i].stream, from->list[i].count);
}

/* What both have. */
static void meet(struct node_set *to, const struct node_set *from)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->count; i++) {
		struct nodes nodes = to->list[i];
		uint32_t other = count_in(from, nodes.stream);

		if (nodes.count > other)
			nodes.count = other;
		if (nodes.count)
			to->list[kept++] = nodes;
	}
	to->count = kept;
}

static void copy(struct node_set *to, const struct node_set *from)
{
	to->count = 0;
	join(to, from);
}

/* ---- streams ---- */

static void release(struct captured_stream *s)
{
	free(s->behind.list);
	free(s->behind_each.list);
	*s = (struct captured_stream){ 0 };
}

static bool is_listed(uint16_t stream)
{
	return stream != GP_NO_STREAM;
}

void captures_release(struct caching *c)
{
	struct captures *captures = &c->captures;
	uint16_t stream, next;

	for (stream = captures->streams ? captures->first : GP_NO_STREAM;
	     is_listed(stream); stream = next) {
		next = captures->streams[stream].next;
		release(&captures->streams[stream]);
	}
	free(captures->streams);
}

/* The stream is in that capture now, whichever it was in. */
static void enter(struct captures *captures, uint16_t stream, uint32_t capture)
{
	struct captured_stream *s = &captures->streams[stream];

	if (!s->capture) {
		s->next = captures->first;
		captures->first = stream;
	}
	s->capture = capture;
}

uint32_t capture_begin(struct caching *c, uint16_t stream)
{
	struct captures *captures = &c->captures;

	if (!captures->streams) {
		captures->streams = gp_mem_alloc(c->config.stream_count,
						 sizeof(*captures->streams));
		captures->first = GP_NO_STREAM;
	}
	captures->open++;
	enter(captures, stream, ++captures->begun);
	return captures->begun;
}

void capture_end(struct caching *c, uint32_t capture)
{
	struct captures *captures = &c->captures;
	uint16_t *link = &captures->first;

	captures->open--;
	while (is_listed(*link)) {
		struct captured_stream *s = &captures->streams[*link];
		uint16_t next = s->next;

		if (s->capture != capture) {
			link = &s->next;
			continue;
		}
		release(s);
		*link = next;
	}
}

uint32_t capture_of(const struct caching *c, uint16_t stream)
{
	return c->captures.open ? c->captures.streams[stream].capture : 0;
}

void capture_work(struct caching *c, uint16_t stream)
{
	struct captured_stream *s;

	if (!capture_of(c, stream))
		return;
	s = &c->captures.streams[stream];
	raise_to(&s->behind, stream, count_in(&s->behind, stream) + 1);
	copy(&s->behind_each, &s->behind);
}

/* CUDA refuses to mix two captures, or one with what is not captured. */
void capture_wait(struct caching *c, uint16_t stream, uint16_t by)
{
	uint32_t capture = capture_of(c, stream);
	const struct captured_stream *from;
	struct captured_stream *to;

	if (!capture || (capture_of(c, by) && capture_of(c, by) != capture))
		return;
	enter(&c->captures, by, capture);
	from = &c->captures.streams[stream];
	to = &c->captures.streams[by];
	if (!from->behind.count || from == to)
		return;
	if (!to->behind.count)
		copy(&to->behind_each, &from->behind_each);
	meet(&to->behind_each, &from->behind_each);
	join(&to->behind, &from->behind);
}

static bool marks_itself(const struct caching *c)
{
	return gp_release_has(c->settings.release, GP_CHANGE_CAPTURE_MARKS);
}

/* Adds what a stream comes behind; false: it is not captured. */
static bool add_stream(struct caching *c, struct node_set *mark,
		       uint16_t stream)
{
	if (!capture_of(c, stream))
		return false;
	if (!marks_itself(c))
		capture_work(c, stream);
	join(mark, &c->captures.streams[stream].behind);
	return true;
}

struct node_set capture_mark(struct caching *c, const struct block *b)
{
	const struct robin *uses = b->uses ? &b->uses->streams : NULL;
	struct node_set mark = { 0 };
	bool tells = !b->uses_unknown && add_stream(c, &mark, b->stream);

	for (size_t i = uses ? robin_begin(uses) : 0;
	     tells && uses && i < robin_end(uses); i = robin_after(uses, i))
		tells = add_stream(c, &mark, (uint16_t)uses->slots[i].key);
	if (tells && mark.count)
		return mark;
	free(mark.list);
	return (struct node_set){ 0 };
}

bool capture_is_past(const struct caching *c, uint16_t stream,
		     const struct node_set *mark)
{
	const struct captured_stream *s;
	const struct node_set *behind;

	if (!capture_of(c, stream))
		return false;
	s = &c->captures.streams[stream];
	behind = marks_itself(c) ? &s->behind : &s->behind_each;
	for (size_t i = 0; i < mark->count; i++)
		if (mark->list[i].count >
		    count_in(behind, mark->list[i].stream))
			return false;
	return true;
}
