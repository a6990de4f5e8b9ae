/* SPDX-License-Identifier: MIT */
/* Captured streams, and what their work comes behind. */
#include "allocator/caching/capture.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/mem.h"

/* Raises each of the first to at least the second's. */
static void join(const struct caching *c, uint32_t *to, const uint32_t *from)
{
	for (size_t i = 0; from && i < c->config.stream_count; i++)
		if (to[i] < from[i])
			to[i] = from[i];
}

static size_t bytes_of(const struct caching *c)
{
	return c->config.stream_count * sizeof(uint32_t);
}

/* The stream's, made if need be. */
static struct captured_stream *stream_of(struct caching *c, uint16_t stream)
{
	struct captured_stream *s = &c->captures.streams[stream];

	if (!s->behind) {
		s->behind = gp_mem_alloc(1, bytes_of(c));
		s->behind_each = gp_mem_alloc(1, bytes_of(c));
	}
	return s;
}

void captures_release(struct caching *c)
{
	struct captured_stream *streams = c->captures.streams;

	for (size_t i = 0; streams && i < c->config.stream_count; i++) {
		free(streams[i].behind);
		free(streams[i].behind_each);
	}
	free(streams);
}

uint32_t capture_begin(struct caching *c, uint16_t stream)
{
	struct captures *captures = &c->captures;

	if (!captures->streams)
		captures->streams = gp_mem_alloc(c->config.stream_count,
						 sizeof(*captures->streams));
	captures->open++;
	return captures->streams[stream].capture = ++captures->begun;
}

void capture_end(struct caching *c, uint32_t capture)
{
	c->captures.open--;
	for (size_t i = 0; i < c->config.stream_count; i++) {
		struct captured_stream *s = &c->captures.streams[i];

		if (s->capture != capture)
			continue;
		free(s->behind);
		free(s->behind_each);
		*s = (struct captured_stream){ 0 };
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
	s = stream_of(c, stream);
	s->behind[stream]++;
	memcpy(s->behind_each, s->behind, bytes_of(c));
}

static bool is_none(const struct caching *c, const uint32_t *nodes)
{
	size_t i = 0;

	while (nodes && i < c->config.stream_count && !nodes[i])
		i++;
	return !nodes || i == c->config.stream_count;
}

/* CUDA refuses to mix two captures, or one with what is not captured. */
void capture_wait(struct caching *c, uint16_t stream, uint16_t by)
{
	uint32_t capture = capture_of(c, stream);
	const struct captured_stream *from;
	struct captured_stream *to;

	if (!capture || (capture_of(c, by) && capture_of(c, by) != capture))
		return;
	c->captures.streams[by].capture = capture;
	from = &c->captures.streams[stream];
	if (is_none(c, from->behind))
		return;
	to = stream_of(c, by);
	if (is_none(c, to->behind))
		memcpy(to->behind_each, from->behind_each, bytes_of(c));
	for (size_t i = 0; i < c->config.stream_count; i++)
		if (to->behind_each[i] > from->behind_each[i])
			to->behind_each[i] = from->behind_each[i];
	join(c, to->behind, from->behind);
}

static bool marks_itself(const struct caching *c)
{
	return gp_release_has(c->settings.release, GP_CHANGE_CAPTURE_MARKS);
}

/* Adds what a stream comes behind; false: it is not captured. */
static bool add_stream(struct caching *c, uint32_t *mark, uint16_t stream)
{
	if (!capture_of(c, stream))
		return false;
	if (!marks_itself(c))
		capture_work(c, stream);
	join(c, mark, c->captures.streams[stream].behind);
	return true;
}

uint32_t *capture_mark(struct caching *c, const struct block *b)
{
	const struct robin *uses = b->uses ? &b->uses->streams : NULL;
	uint32_t *mark = gp_mem_alloc(c->config.stream_count, sizeof(*mark));
	bool tells = !b->uses_unknown && add_stream(c, mark, b->stream);

	for (size_t i = uses ? robin_begin(uses) : 0;
	     tells && uses && i < robin_end(uses); i = robin_after(uses, i))
		tells = add_stream(c, mark, (uint16_t)uses->slots[i].key);
	if (tells && !is_none(c, mark))
		return mark;
	free(mark);
	return NULL;
}

bool capture_is_past(const struct caching *c, uint16_t stream,
		     const uint32_t *mark)
{
	const struct captured_stream *s;
	const uint32_t *behind;

	if (!capture_of(c, stream))
		return false;
	s = &c->captures.streams[stream];
	behind = marks_itself(c) ? s->behind : s->behind_each;
	for (size_t i = 0; i < c->config.stream_count; i++)
		if (mark[i] > (behind ? behind[i] : 0))
			return false;
	return true;
}
